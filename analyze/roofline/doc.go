// Package roofline says how long an op must take at least: from the arithmetic it does and the bytes it moves, by the
// recorded shapes of its operands, and what the device can do.
//
//	w, ok := roofline.Model("aten::mm", shape)            // 2·M·N·K operations, so many bytes
//	spec, known := roofline.DeviceSpec("AMD Instinct MI300X")
//	e := w.On(spec)                                       // e.Nanoseconds, e.Bound
//
// An op without a model, or whose shapes were not recorded, has no Work; a device that is not in devices.json has no
// Spec. Neither is ever guessed. The models are TraceLens' (AMD-AGI/TraceLens 171dd7472), whose figures the vectors hold.
package roofline
