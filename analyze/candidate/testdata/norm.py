import triton


@triton.autotune(configs=[], key=["n"])
@triton.jit
def _rms_kernel(x, n):
    pass
