// Shows that [[vertex_id]] and [[instance_id]] include the draw's base vertex and base instance, as Vulkan's VertexIndex and
// InstanceIndex do. Needs a Mac; tools/metal-runner/probe-draw-ids builds and runs it.
import Metal

guard CommandLine.arguments.count == 2,
      let device = MTLCreateSystemDefaultDevice(),
      let queue = device.makeCommandQueue() else {
    fatalError("usage: probe-draw-ids FILE.metal, on a machine with a Metal device")
}
let source = try String(contentsOfFile: CommandLine.arguments[1], encoding: .utf8)
let library = try device.makeLibrary(source: source, options: nil)

let descriptor = MTLRenderPipelineDescriptor()
descriptor.vertexFunction = library.makeFunction(name: "VSMain")
descriptor.isRasterizationEnabled = false
descriptor.colorAttachments[0].pixelFormat = .rgba8Unorm
let pipeline = try device.makeRenderPipelineState(descriptor: descriptor)

let count = device.makeBuffer(length: 4, options: .storageModeShared)!
let seen = device.makeBuffer(length: 8 * 16, options: .storageModeShared)!

let target = MTLTextureDescriptor.texture2DDescriptor(pixelFormat: .rgba8Unorm, width: 1, height: 1, mipmapped: false)
target.usage = .renderTarget
target.storageMode = .private
let pass = MTLRenderPassDescriptor()
pass.colorAttachments[0].texture = device.makeTexture(descriptor: target)
pass.colorAttachments[0].loadAction = .dontCare
pass.colorAttachments[0].storeAction = .dontCare

let commands = queue.makeCommandBuffer()!
let encoder = commands.makeRenderCommandEncoder(descriptor: pass)!
encoder.setRenderPipelineState(pipeline)
encoder.setVertexBuffer(count, offset: 0, index: 0)
encoder.setVertexBuffer(seen, offset: 0, index: 1)
encoder.drawPrimitives(type: .point, vertexStart: 10, vertexCount: 2, instanceCount: 2, baseInstance: 7)
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
if let error = commands.error { fatalError("\(error)") }

let n = Int(count.contents().load(as: UInt32.self))
let numbers = seen.contents().bindMemory(to: SIMD2<UInt32>.self, capacity: 16)
let got = (0..<min(n, 16)).map { [numbers[$0].x, numbers[$0].y] }.sorted { ($0[1], $0[0]) < ($1[1], $1[0]) }
let want: [[UInt32]] = [[10, 7], [11, 7], [10, 8], [11, 8]]
print("vertex and instance numbers seen: \(got)")
guard got == want else {
    print("FAIL: expected \(want)")
    exit(1)
}
print("ok: both include the draw's bases")
