//! Expected descriptors are those that DXC gives the same declarations.

use super::*;
use crate::{GlobalVar, MatrixOrder, Register, Scalar, TextureDim, TextureType};
use oneshader_diag::Span;

#[derive(Default)]
struct Decls {
    m: IrModule,
}

impl Decls {
    fn add(&mut self, name: &str, kind: ResourceType, count: u32, var: ResourceVar) -> Global {
        let mut ty = self.m.types.intern(TypeKind::Resource(kind));
        if count > 1 {
            ty = self.m.types.array(ty, count);
        }
        let name = self.m.names.intern(name);
        let kind = GlobalKind::Resource(var);
        let space = crate::AddressSpace::Handle;
        self.m.globals.push(GlobalVar { name, ty, space, init: None, kind, readonly: false, span: Span::NONE })
    }
    /// An array without size.
    fn table(&mut self, name: &str, kind: ResourceType, var: ResourceVar) -> Global {
        let global = self.add(name, kind, 1, var);
        let elem = self.m.globals[global].ty;
        self.m.globals[global].ty = self.m.types.intern(TypeKind::RuntimeArray { elem });
        global
    }
    fn rw(&mut self, counter: CounterKind) -> ResourceType {
        let elem = self.m.types.scalar(Scalar::F32);
        ResourceType::StructuredBuffer { elem, access: Access::ReadWrite, counter, order: MatrixOrder::ColumnMajor }
    }
    fn cb(&mut self) -> ResourceType {
        ResourceType::ConstantBuffer { block: self.m.types.scalar(Scalar::F32) }
    }
}

const SAMPLER: ResourceType = ResourceType::Sampler { comparison: false };

fn texture(dim: TextureDim, access: Access) -> ResourceType {
    ResourceType::Texture(TextureType {
        dim,
        arrayed: false,
        multisampled: false,
        access,
        texel: Scalar::F32,
        components: 4,
    })
}

fn t2d() -> ResourceType {
    texture(TextureDim::D2, Access::Read)
}

fn at(class: RegisterClass, index: Option<u32>, space: u32) -> ResourceVar {
    ResourceVar { register: Some(Register { class, index, space }), ..Default::default() }
}

/// ```hlsl
/// RWStructuredBuffer<float> a; Texture2D t; AppendStructuredBuffer<float> b; SamplerState s;
/// RWStructuredBuffer<float> c : register(u0); [[vk::binding(5,1)]] RWStructuredBuffer<float> d;
/// Texture2D ta[3]; RWBuffer<float> rb : register(u7); Texture2D sp : register(space3);
/// RWStructuredBuffer<float> e; cbuffer CB {..} float loose; Texture2D last;
/// ```
/// where the counters of c and d are used.
fn example() -> Decls {
    let d = &mut Decls::default();
    let plain = ResourceVar::default;
    let (none, counter, append) = (d.rw(CounterKind::None), d.rw(CounterKind::Counter), d.rw(CounterKind::Append));
    let cb = d.cb();
    d.add("a", none, 1, plain());
    d.add("t", t2d(), 1, plain());
    d.add("b", append, 1, plain());
    d.add("s", SAMPLER, 1, plain());
    d.add("c", counter, 1, at(RegisterClass::U, Some(0), 0));
    d.add("d", counter, 1, ResourceVar { vk_binding: Some((5, 1)), ..Default::default() });
    d.add("ta", t2d(), 3, plain());
    d.add("rb", texture(TextureDim::Buffer, Access::ReadWrite), 1, at(RegisterClass::U, Some(7), 0));
    d.add("sp", t2d(), 1, at(RegisterClass::T, None, 3));
    d.add("e", none, 1, plain());
    d.add("CB", cb, 1, plain());
    d.add("$Globals", cb, 1, ResourceVar { implicit: true, ..Default::default() });
    d.add("last", t2d(), 1, plain());
    std::mem::take(d)
}

fn spirv(d: &Decls, slots: &Slots) -> Vec<String> {
    let name = |g: Global| d.m.names.get(d.m.globals[g].name);
    let show = |s: Option<SpirvSlot>| s.map_or("-".into(), |s| format!("{}.{}", s.set, s.binding));
    d.m.globals
        .keys()
        .map(|g| {
            let s = slots.of(g);
            match s.spirv_counter {
                Some(_) => format!("{} {} {}", name(g), show(s.spirv), show(s.spirv_counter)),
                None => format!("{} {}", name(g), show(s.spirv)),
            }
        })
        .collect()
}

#[test]
fn descriptors_are_dxcs() {
    let d = example();
    let (slots, errors) = Slots::assign(&d.m, &SlotOptions::default());
    assert_eq!(errors, []);
    let expected = [
        "a 0.1",
        "t 0.2",
        "b 0.3 0.4",
        "s 0.5",
        "c 0.0 0.12",
        "d 1.5 1.0",
        "ta 0.6",
        "rb 0.7",
        "sp 3.0",
        "e 0.8",
        "CB 0.9",
        "$Globals 0.10",
        "last 0.11",
    ];
    assert_eq!(spirv(&d, &slots), expected);
}

#[test]
fn shifts_are_dxcs() {
    // -fvk-u-shift 10 0 -fvk-t-shift 20 all -fvk-auto-shift-bindings
    let d = example();
    let mut options = SlotOptions::default();
    options.spirv.u_shift.spaces.push((0, 10));
    options.spirv.t_shift.all = 20;
    options.spirv.auto_shift = true;
    let (slots, errors) = Slots::assign(&d.m, &options);
    assert_eq!(errors, []);
    let expected = [
        "a 0.11",
        "t 0.20",
        "b 0.12 0.0",
        "s 0.1",
        "c 0.10 0.4",
        "d 1.5 1.0",
        "ta 0.21",
        "rb 0.17",
        "sp 3.20",
        "e 0.13",
        "CB 0.2",
        "$Globals 0.3",
        "last 0.22",
    ];
    assert_eq!(spirv(&d, &slots), expected);
}

#[test]
fn metal_counts_each_table_in_order() {
    let mut d = example();
    let cb = d.cb();
    d.add("push", cb, 1, ResourceVar { push_constant: true, ..Default::default() });
    let (slots, errors) = Slots::assign(&d.m, &SlotOptions::default());
    assert_eq!(errors, []);
    let show: Vec<String> =
        d.m.globals
            .iter()
            .map(|(g, var)| {
                let slot = slots.of(g).msl.unwrap();
                format!("{} {}{}", d.m.names.get(var.name), &slot.table.name()[..1], slot.index)
            })
            .collect();
    // ta takes textures 1 to 3; rb, a typed buffer, is a texture; push constants are the next buffer.
    let expected = [
        "a b0",
        "t t0",
        "b b1",
        "s s0",
        "c b2",
        "d b3",
        "ta t1",
        "rb t4",
        "sp t5",
        "e b4",
        "CB b5",
        "$Globals b6",
        "last t6",
        "push b7",
    ];
    assert_eq!(show, expected);
    // Hidden ones come last and move nothing.
    let counters: Vec<u32> =
        d.m.globals.keys().filter_map(|g| slots.of(g).msl_counter).map(|slot| slot.index).collect();
    assert_eq!(counters, [8, 9, 10]);
    assert_eq!(slots.msl_sizes(), 11);
    assert_eq!(slots.of(d.m.globals.last().unwrap().0).spirv, None);
}

/// Metal slots by name, in order of declaration: `b2` is buffer 2.
fn metal(d: &Decls, slots: &Slots) -> Vec<String> {
    let show = |s: MslSlot| format!("{}{}", &s.table.name()[..1], s.index);
    let one = |(g, var): (Global, &GlobalVar)| {
        assert_eq!(slots.of(g).msl.map(|s| s.count), Some(1));
        format!("{} {}", d.m.names.get(var.name), slots.of(g).msl.map_or("-".into(), show))
    };
    d.m.globals.iter().map(one).collect()
}

#[test]
fn an_array_without_size_is_one_buffer_and_views_share_it() {
    let mut d = Decls::default();
    let (plain, counter) = (d.rw(CounterKind::None), d.rw(CounterKind::Counter));
    let vk = |binding| ResourceVar { vk_binding: Some((binding, 4)), ..Default::default() };
    d.add("a", plain, 1, ResourceVar::default());
    d.table("textures", t2d(), at(RegisterClass::T, Some(0), 1));
    d.table("samplers", SAMPLER, at(RegisterClass::S, Some(0), 1));
    d.table("cubes", texture(TextureDim::Cube, Access::Read), at(RegisterClass::T, Some(0), 1));
    // Another number, another space, another class: other ranges.
    d.table("from8", t2d(), at(RegisterClass::T, Some(8), 1));
    d.table("space2", t2d(), at(RegisterClass::T, Some(0), 2));
    d.table("written", texture(TextureDim::D2, Access::ReadWrite), at(RegisterClass::U, Some(0), 1));
    // Without a number, a range of its own each.
    d.table("loose", t2d(), at(RegisterClass::T, None, 1));
    d.table("looser", t2d(), at(RegisterClass::T, None, 1));
    d.table("nowhere", t2d(), ResourceVar::default());
    // A binding goes before the register, whatever is bound there.
    d.table("bound", t2d(), ResourceVar { vk_binding: Some((0, 4)), ..at(RegisterClass::T, Some(0), 1) });
    d.table("buffers", counter, vk(0));
    d.table("more", t2d(), vk(1));
    // The other half of a combined image sampler.
    d.table("half", SAMPLER, vk(1));
    d.add("b", counter, 1, ResourceVar::default());
    d.add("t", t2d(), 1, ResourceVar::default());
    let (slots, errors) = Slots::assign(&d.m, &SlotOptions::default());
    assert_eq!(errors, []);
    let expected = [
        "a b0",
        "textures b1",
        "samplers b2",
        "cubes b1",
        "from8 b3",
        "space2 b4",
        "written b5",
        "loose b6",
        "looser b7",
        "nowhere b8",
        "bound b9",
        "buffers b9",
        "more b10",
        "half b11",
        "b b12",
        "t t0",
    ];
    assert_eq!(metal(&d, &slots), expected);
    // Only `b` has a counter.
    let counters: Vec<u32> = d.m.globals.keys().filter_map(|g| slots.of(g).msl_counter).map(|s| s.index).collect();
    assert_eq!((counters, slots.msl_sizes()), (vec![13], 14));
}

#[test]
fn heaps_come_last_and_each_has_its_slot() {
    let heaps = |names: &[&str]| {
        let mut d = Decls::default();
        for name in names {
            d.table(name, if name.starts_with('S') { SAMPLER } else { t2d() }, ResourceVar::default());
        }
        let counter = d.rw(CounterKind::Counter);
        d.add("b", counter, 1, ResourceVar::default());
        let (slots, errors) = Slots::assign(&d.m, &SlotOptions::default());
        assert_eq!((errors, slots.msl_sizes()), (vec![], 2));
        metal(&d, &slots)
    };
    // 0 is `b`, 1 its counter, 2 the sizes; a heap that is not read keeps its slot.
    let (resources, samplers) = ("ResourceDescriptorHeap", "SamplerDescriptorHeap");
    assert_eq!(heaps(&[]), ["b b0"]);
    assert_eq!(heaps(&[samplers]), ["SamplerDescriptorHeap b4", "b b0"]);
    let all = ["ResourceDescriptorHeap b3", "SamplerDescriptorHeap b4", "ResourceDescriptorHeap b3", "b b0"];
    assert_eq!(heaps(&[resources, samplers, resources]), all);
}

#[test]
fn a_map_places_tables_and_heaps() {
    let mut d = Decls::default();
    let plain = d.rw(CounterKind::None);
    d.table("textures", t2d(), at(RegisterClass::T, Some(0), 1));
    d.table("cubes", texture(TextureDim::Cube, Access::Read), at(RegisterClass::T, Some(0), 1));
    d.table("elsewhere", t2d(), at(RegisterClass::T, Some(0), 1));
    d.table("ResourceDescriptorHeap", t2d(), ResourceVar::default());
    d.add("a", plain, 1, ResourceVar::default());
    let mut options = SlotOptions::default();
    for (name, index) in [("cubes", 7), ("elsewhere", 9), ("ResourceDescriptorHeap", 0)] {
        options.map.resources.insert(name.into(), BindingEntry { msl: Some(index), ..Default::default() });
    }
    let (slots, errors) = Slots::assign(&d.m, &options);
    assert_eq!(errors, []);
    // A view that the map leaves out goes where another one is.
    let expected = ["textures b7", "cubes b7", "elsewhere b9", "ResourceDescriptorHeap b0", "a b1"];
    assert_eq!(metal(&d, &slots), expected);
    // Views may share an index, others may not.
    options.map.resources.insert("textures".into(), BindingEntry { msl: Some(7), ..Default::default() });
    assert_eq!(Slots::assign(&d.m, &options).1, []);
    options.map.resources.insert("a".into(), BindingEntry { msl: Some(7), ..Default::default() });
    assert_eq!(Slots::assign(&d.m, &options).1.len(), 1);
}

#[test]
fn a_map_dictates_and_the_rest_flows_around() {
    let d = example();
    let mut options = SlotOptions::default();
    let entry = |msl| BindingEntry { msl: Some(msl), ..Default::default() };
    options.map.resources.insert("e".into(), entry(0));
    options.map.resources.insert("last".into(), entry(2));
    options.map.resources.insert("nobody".into(), entry(0));
    let (slots, errors) = Slots::assign(&d.m, &options);
    assert_eq!(errors, []);
    let index = |i: u32| slots.of(Global::from_u32(i)).msl.unwrap().index;
    assert_eq!((index(9), index(0), index(2)), (0, 1, 2));
    // Texture 0 is t, 2 is dictated, so the three of ta fit from 3 on only.
    assert_eq!((index(1), index(6), index(7)), (0, 3, 6));
}

#[test]
fn overlap_names_both() {
    let d = example();
    let mut options = SlotOptions::default();
    let slot = SpirvSlot { set: 2, binding: 1 };
    let entry = BindingEntry { msl: Some(3), spirv: Some(slot), ..Default::default() };
    options.map.resources.insert("a".into(), entry);
    options.map.resources.insert("e".into(), entry);
    let (_, errors) = Slots::assign(&d.m, &options);
    let (a, e) = (SlotOwner::Resource(Global::from_u32(0)), SlotOwner::Resource(Global::from_u32(9)));
    assert_eq!(
        errors,
        [
            SlotError::Overlap { first: a, second: e, slot: "set 2, binding 1".into() },
            SlotError::Overlap { first: a, second: e, slot: "[[buffer(3)]]".into() },
        ]
    );
}

#[test]
fn bind_register_needs_every_register() {
    let mut d = Decls::default();
    let cb = d.cb();
    d.add("x", t2d(), 1, at(RegisterClass::T, Some(3), 1));
    d.add("y", t2d(), 1, at(RegisterClass::T, Some(4), 1));
    d.add("$Globals", cb, 1, ResourceVar { implicit: true, ..Default::default() });
    let slot = SpirvSlot { set: 2, binding: 9 };
    let mut options = SlotOptions::default();
    options.spirv.bind_register.push(BindRegister { class: RegisterClass::T, index: 3, space: 1, slot });
    let (slots, errors) = Slots::assign(&d.m, &options);
    assert_eq!(slots.of(Global::from_u32(0)).spirv, Some(slot));
    let missing = [SlotError::NoBindRegister(Global::from_u32(1)), SlotError::NoBindGlobals(Global::from_u32(2))];
    assert_eq!(errors, missing);
}

#[test]
fn many_resources_take_linear_time() {
    let mut d = Decls::default();
    for i in 0..50_000 {
        d.add(&format!("t{i}"), t2d(), 1, ResourceVar::default());
    }
    let (slots, errors) = Slots::assign(&d.m, &SlotOptions::default());
    assert_eq!(errors, []);
    assert_eq!(slots.of(Global::from_u32(49_999)).spirv, Some(SpirvSlot { set: 0, binding: 49_999 }));
}

fn combined(register: Option<Register>, sampler_of: Option<Global>) -> ResourceVar {
    ResourceVar { register, combined: true, sampler_of, ..Default::default() }
}

#[test]
fn combined_halves_meet() {
    // -fvk-t-shift 10 0 -fvk-s-shift 20 0, as in DXC's documentation of combined image samplers.
    let register = |class| Some(Register { class, index: Some(0), space: 0 });
    let mut d = Decls::default();
    d.add("sam", SAMPLER, 1, combined(register(RegisterClass::S), None));
    d.add("tex", t2d(), 1, combined(register(RegisterClass::T), None));
    d.add("sam0", SAMPLER, 1, at(RegisterClass::S, Some(0), 0));
    let both = d.add("both", t2d(), 1, combined(None, None));
    d.add("both.sampler", SAMPLER, 1, combined(None, Some(both)));
    let lettered = d.add("lettered", t2d(), 1, combined(register(RegisterClass::S), None));
    d.add("lettered.sampler", SAMPLER, 1, combined(None, Some(lettered)));
    d.add("next", t2d(), 1, ResourceVar::default());
    let mut options = SlotOptions::default();
    options.spirv.t_shift.spaces.push((0, 10));
    options.spirv.s_shift.spaces.push((0, 20));
    let (slots, errors) = Slots::assign(&d.m, &options);
    assert_eq!(errors, []);
    let expected = [
        "sam 0.10",
        "tex 0.10",
        "sam0 0.20",
        "both 0.0",
        "both.sampler 0.0",
        "lettered 0.20",
        "lettered.sampler 0.20",
        "next 0.1",
    ];
    assert_eq!(spirv(&d, &slots), expected);
    // Metal counts them as if declared one after the other.
    let msl = |name: &str| slots.of(d.m.globals.iter().find(|(_, g)| d.m.names.get(g.name) == name).unwrap().0).msl;
    assert_eq!(msl("both").map(|s| (s.table, s.index)), Some((MslTable::Texture, 1)));
    assert_eq!(msl("both.sampler").map(|s| (s.table, s.index)), Some((MslTable::Sampler, 2)));
}

#[test]
fn a_half_without_the_other_is_an_error() {
    let mut d = Decls::default();
    d.add("tex", t2d(), 1, at(RegisterClass::T, Some(1), 0));
    let sam =
        d.add("sam", SAMPLER, 1, combined(Some(Register { class: RegisterClass::S, index: Some(1), space: 0 }), None));
    let (_, errors) = Slots::assign(&d.m, &SlotOptions::default());
    assert_eq!(errors, [SlotError::Unpaired(sam, SpirvSlot { set: 0, binding: 1 })]);
}

#[test]
fn heaps_keep_the_descriptors_that_options_state() {
    let mut d = Decls::default();
    let counter = d.rw(CounterKind::Counter);
    d.add("a", counter, 1, ResourceVar::default());
    let heap =
        d.add("ResourceDescriptorHeap", counter, 1, ResourceVar { vk_binding: Some((0, 0)), ..Default::default() });
    let elem = d.m.globals[heap].ty;
    d.m.globals[heap].ty = d.m.types.intern(TypeKind::RuntimeArray { elem });
    let slot = |binding| SpirvSlot { set: 0, binding };
    let mut options = SlotOptions::default();
    options.spirv.counter_heap = Some(slot(1));
    options.spirv.reserved = vec![slot(0), slot(1), slot(2)];
    let (slots, errors) = Slots::assign(&d.m, &options);
    assert_eq!(errors, []);
    assert_eq!(spirv(&d, &slots), ["a 0.3 0.4", "ResourceDescriptorHeap 0.0 0.1"]);
    // Beside -fvk-bind-register, a heap has no register and needs none.
    let class = RegisterClass::S;
    options.spirv.bind_register.push(BindRegister { class, index: 1, space: 0, slot: slot(7) });
    let (slots, errors) = Slots::assign(&d.m, &options);
    assert_eq!(slots.of(heap).spirv, Some(slot(0)));
    assert!(errors.iter().all(|e| *e != SlotError::NoBindRegister(heap)), "{errors:?}");
}
