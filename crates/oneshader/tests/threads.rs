//! The public types are plain data: they go from thread to thread and are shared.

use oneshader::args::Invocation;
use oneshader::reflect::SpecializationValues;
use oneshader::{
    Artifact, BindingMap, Code, DirLoader, Failure, IncludeLoader, Lowered, MemoryLoader, NoIncludes, Options, Output,
    Preprocessed, Profile, Reflection, Source,
};

const fn shared<T: Send + Sync + 'static + ?Sized>() {}

/// Checked when this file is compiled.
const _: () = {
    shared::<Source>();
    shared::<Options>();
    shared::<Profile>();
    shared::<BindingMap>();
    shared::<Invocation>();
    shared::<Lowered>();
    shared::<Preprocessed>();
    shared::<Output>();
    shared::<Artifact>();
    shared::<Code>();
    shared::<Failure>();
    shared::<Reflection>();
    shared::<SpecializationValues>();
    shared::<NoIncludes>();
    shared::<MemoryLoader>();
    shared::<DirLoader>();
    shared::<dyn IncludeLoader>();
};

/// One set of options serves many threads, and a failure crosses them as any error does.
#[test]
fn options_are_shared_and_results_are_sent() {
    let loader = MemoryLoader::new([("half.hlsli", "#define HALF 0.5\n")]);
    let options = Options::new(oneshader::CompileTarget::Msl).profile("ps_6_0").unwrap().includes(loader);
    let compile = |body: &str| -> Result<Output, Box<dyn std::error::Error + Send + Sync>> {
        let text = format!("#include \"half.hlsli\"\nfloat4 main() : SV_Target {{ return {body}; }}");
        Ok(oneshader::compile(&Source::new("a.hlsl", text), &options)?)
    };
    std::thread::scope(|scope| {
        let fine = scope.spawn(|| compile("HALF"));
        let wrong = scope.spawn(|| compile("NONE"));
        let output = fine.join().unwrap().unwrap();
        assert!(output.text("main").unwrap().contains("0.5f"));
        assert_eq!(output.includes, ["half.hlsli"]);
        assert!(wrong.join().unwrap().unwrap_err().to_string().contains("unknown name `NONE`"));
    });
}
