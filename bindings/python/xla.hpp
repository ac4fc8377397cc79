// SPDX-License-Identifier: Apache-2.0
/// A custom call of XLA, whose buffers a Python function gets where they lie.
///
///     call     tcsolve_solve(indptr, indices, data, b, good) {options, check, ...} -> x, solved
///     becomes  on_buffers(device, stream, {"options": ..., ...}, [(address, shape, kind, bits), ...])
///
/// with the results behind the arguments, device -1 on the host, kind 'f', 'i', 'u' or 'b'. What it
/// raises is the error of the computation. The stream may be at work on the arguments, and what is
/// in the results when the function returns is there for whatever comes after. Calls cannot be
/// recorded into XLA's command buffers, and do not say that they can.
///
/// The interface is that of jaxlib 0.7.2 (0.1), which later ones serve.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include <nanobind/nanobind.h>

#include "xla/ffi/api/c_api.h"

namespace nb = nanobind;

namespace tcsolve::python::xla {

inline XLA_FFI_Error* failed(XLA_FFI_Api const* api, std::string const& text) {
  XLA_FFI_Error_Create_Args args{};
  args.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE;
  args.message = text.c_str();
  args.errc = XLA_FFI_Error_Code_INTERNAL;
  return api->XLA_FFI_Error_Create(&args);
}

/// (address, shape, kind, bits)
inline nb::tuple buffer_of(XLA_FFI_Buffer const& buffer) {
  char const* kind = "";
  int bits = 0;
  switch (buffer.dtype) {
    case XLA_FFI_DataType_F64: kind = "f", bits = 64; break;
    case XLA_FFI_DataType_F32: kind = "f", bits = 32; break;
    case XLA_FFI_DataType_S64: kind = "i", bits = 64; break;
    case XLA_FFI_DataType_S32: kind = "i", bits = 32; break;
    case XLA_FFI_DataType_PRED: kind = "u", bits = 8; break;
    default: throw nb::type_error("a buffer of another type");
  }
  nb::list shape;
  for (std::int64_t k = 0; k < buffer.rank; ++k) shape.append(buffer.dims[k]);
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(buffer.data), nb::tuple(shape), kind,
                        bits);
}

inline nb::object attribute_of(XLA_FFI_AttrType type, void* at) {
  if (type == XLA_FFI_AttrType_STRING) {
    auto const& text = *static_cast<XLA_FFI_ByteSpan const*>(at);
    return nb::str(text.ptr, text.len);
  }
  auto const& scalar = *static_cast<XLA_FFI_Scalar const*>(at);
  if (type != XLA_FFI_AttrType_SCALAR || scalar.dtype != XLA_FFI_DataType_S64)
    throw nb::type_error("an attribute that is neither a text nor an integer of 64 bits");
  return nb::int_(*static_cast<std::int64_t const*>(scalar.value));
}

/// What XLA asks before it takes a handler; whether that was asked.
inline bool tell_of_handler(XLA_FFI_CallFrame* frame) {
  auto* const extension = frame->extension_start;
  if (extension == nullptr || extension->type != XLA_FFI_Extension_Metadata) return false;
  XLA_FFI_Metadata& told = *reinterpret_cast<XLA_FFI_Metadata_Extension*>(extension)->metadata;
  told.api_version.major_version = XLA_FFI_API_MAJOR;
  told.api_version.minor_version = XLA_FFI_API_MINOR;
  return true;
}

template <bool OnDevice>
XLA_FFI_Error* solve(XLA_FFI_CallFrame* frame) {
  if (tell_of_handler(frame)) return nullptr;
  XLA_FFI_Api const* const api = frame->api;
  if (frame->stage != XLA_FFI_ExecutionStage_EXECUTE) return nullptr;
  std::int32_t device = -1;
  void* stream = nullptr;
  if constexpr (OnDevice) {
    XLA_FFI_Stream_Get_Args queue{};
    queue.struct_size = XLA_FFI_Stream_Get_Args_STRUCT_SIZE;
    queue.ctx = frame->ctx;
    if (auto* const error = api->XLA_FFI_Stream_Get(&queue)) return error;
    stream = queue.stream;
    XLA_FFI_DeviceOrdinal_Get_Args where{};
    where.struct_size = XLA_FFI_DeviceOrdinal_Get_Args_STRUCT_SIZE;
    where.ctx = frame->ctx;
    if (auto* const error = api->XLA_FFI_DeviceOrdinal_Get(&where)) return error;
    device = where.device_ordinal;
  }
  nb::gil_scoped_acquire const gil;
  try {
    nb::dict attributes;
    for (std::int64_t k = 0; k < frame->attrs.size; ++k) {
      XLA_FFI_ByteSpan const& name = *frame->attrs.names[k];
      attributes[nb::str(name.ptr, name.len)] =
          attribute_of(frame->attrs.types[k], frame->attrs.attrs[k]);
    }
    nb::list buffers;
    for (std::int64_t k = 0; k < frame->args.size; ++k)
      buffers.append(buffer_of(*static_cast<XLA_FFI_Buffer const*>(frame->args.args[k])));
    for (std::int64_t k = 0; k < frame->rets.size; ++k)
      buffers.append(buffer_of(*static_cast<XLA_FFI_Buffer const*>(frame->rets.rets[k])));
    nb::module_::import_("tcsolve.jax")
        .attr("_on_buffers")(device, reinterpret_cast<std::uintptr_t>(stream), attributes, buffers);
    return nullptr;
  } catch (nb::python_error& e) {
    std::string const kind = nb::cast<std::string>(nb::str(e.type().attr("__name__")));
    return failed(api, kind + ": " + nb::cast<std::string>(nb::str(e.value())));
  } catch (std::exception const& e) { return failed(api, e.what()); }
}

/// For jax.ffi.register_ffi_target().
template <bool OnDevice>
nb::capsule handler() {
  return nb::capsule(reinterpret_cast<void*>(&solve<OnDevice>));
}

}  // namespace tcsolve::python::xla
