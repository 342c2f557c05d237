import triton

@triton.jit
def _fwd_kernel(x):
    pass
