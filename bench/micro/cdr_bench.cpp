// The cost of encoding and decoding, in reused buffers as on the hot path.
//   encode_longs/n, decode_longs/n       a sequence<long> of n elements in native order: one block copy
//   decode_longs_swapped/n               the same from a peer of the other byte order
//   encode_struct, decode_struct         { long; double; string<16 characters> }
//   write_request, parse_request         a GIOP 1.2 request with a contract context and one double
//   assemble_request                     the same through the Assembler, in one piece
//   call_codec                           both ends of a call: request written and parsed, reply written and parsed
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "orb/cdr/codec.h"
#include "orb/giop/assembler.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/giop/headers.h"

namespace {

using namespace corelane;

constexpr ByteOrder foreign_order = native_order == ByteOrder::little ? ByteOrder::big : ByteOrder::little;

struct Sample {
  std::int32_t number = 7;
  double value = 1.5;
  std::string name = "sixteen letters.";
};
void encode(cdr::Writer& writer, const Sample& s) {
  encode(writer, s.number), encode(writer, s.value), encode(writer, s.name);
}
bool decode(cdr::Reader& reader, Sample& s) {
  return decode(reader, s.number) && decode(reader, s.value) && decode(reader, s.name);
}

template <typename T>
void run_encode(benchmark::State& state, const T& value) {
  cdr::Writer writer;
  for (auto _ : state) {
    writer.clear();
    encode(writer, value);
    benchmark::DoNotOptimize(writer.bytes().data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(writer.size()));
}

template <typename T>
void run_decode(benchmark::State& state, const T& value, ByteOrder order) {
  cdr::Writer writer(order);
  encode(writer, value);
  T out;
  for (auto _ : state) {
    cdr::Reader reader(writer.bytes(), order);
    if (!decode(reader, out)) state.SkipWithError("not decoded");
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(writer.size()));
}

std::vector<std::int32_t> longs(const benchmark::State& state) {
  return std::vector<std::int32_t>(static_cast<std::size_t>(state.range(0)), 7);
}

void encode_longs(benchmark::State& state) { run_encode(state, longs(state)); }
void decode_longs(benchmark::State& state) { run_decode(state, longs(state), native_order); }
void decode_longs_swapped(benchmark::State& state) { run_decode(state, longs(state), foreign_order); }
void encode_struct(benchmark::State& state) { run_encode(state, Sample{}); }
void decode_struct(benchmark::State& state) { run_decode(state, Sample{}, native_order); }

void write_sample_request(cdr::Writer& writer) {
  const auto contract = giop::encode_contract({TaskId{1}, JobId{2}, std::nullopt, Duration{1000}});
  const giop::ServiceContext contexts[] = {{giop::context::contract, contract}};
  giop::RequestHeader header;
  header.target.object_key = std::as_bytes(std::span("some/object/key"));
  header.operation = "step";
  giop::begin_request(writer, header, contexts);
  writer.write(1.5);
  giop::finish(writer);
}

void write_request(benchmark::State& state) {
  cdr::Writer writer;
  for (auto _ : state) {
    write_sample_request(writer);
    benchmark::DoNotOptimize(writer.bytes().data());
    benchmark::ClobberMemory();
  }
}

double read_sample_request(const giop::Message& message) {
  auto parsed = giop::parse_request(message, giop::Limits{});
  double value = 0;
  if (parsed && giop::find_context(parsed->header.contexts, giop::context::contract)) parsed->body.read(value);
  return value;
}

void parse_request(benchmark::State& state) {
  cdr::Writer writer;
  write_sample_request(writer);
  for (auto _ : state) {
    const auto message = giop::parse_message(writer.bytes());
    benchmark::DoNotOptimize(read_sample_request(*message));
  }
}

void assemble_request(benchmark::State& state) {
  cdr::Writer writer;
  write_sample_request(writer);
  giop::Assembler assembler;
  for (auto _ : state) {
    Bytes input = writer.bytes();
    const auto message = assembler.next(input, Time{});
    benchmark::DoNotOptimize(read_sample_request(**message));
  }
}

void call_codec(benchmark::State& state) {
  cdr::Writer request, reply;
  for (auto _ : state) {
    write_sample_request(request);
    const double argument = read_sample_request(*giop::parse_message(request.bytes()));
    giop::begin_reply(reply, {.request_id = 1, .status = giop::ReplyStatus::no_exception, .contexts = {}}, {},
                      giop::giop_1_2);
    reply.write(argument);
    giop::finish(reply);
    auto parsed = giop::parse_reply(*giop::parse_message(reply.bytes()), giop::Limits{});
    double result = 0;
    if (!parsed || !parsed->body.read(result)) return state.SkipWithError("not parsed");
    benchmark::DoNotOptimize(result);
  }
}

BENCHMARK(encode_longs)->Arg(16)->Arg(1024)->Arg(65536);
BENCHMARK(decode_longs)->Arg(16)->Arg(1024)->Arg(65536);
BENCHMARK(decode_longs_swapped)->Arg(16)->Arg(1024)->Arg(65536);
BENCHMARK(encode_struct);
BENCHMARK(decode_struct);
BENCHMARK(write_request);
BENCHMARK(parse_request);
BENCHMARK(assemble_request);
BENCHMARK(call_codec);

}  // namespace
