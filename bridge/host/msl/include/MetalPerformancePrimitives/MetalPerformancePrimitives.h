// Products and reductions of tensors.
#pragma once
#pragma GCC system_header
#include "../metal_tensor"
#include "../msl_matrix_view.h"
#include "../msl_matrix_pack.h"
#include "../msl_matrix_product.h"
#include "../msl_matmul_operand.h"
#include "../msl_matmul_rules.h"
#include "../msl_matmul.h"
#include "../msl_reduction.h"
