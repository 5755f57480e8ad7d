#include "mpi/process/options.hpp"
#include "mpi/process/first_loss.hpp"

#include "doctest/doctest.h"

using namespace resprout::shim;

namespace {

ParsedOptions parse(std::vector<std::string> lines, int world_size = 8) {
  std::vector<char*> environment;
  for (std::string& line : lines) environment.push_back(line.data());
  environment.push_back(nullptr);
  return parse_environment(environment.data(), world_size);
}

std::string error_of(const std::string& line) { return parse({line}).error; }

bool speaks_of(const std::string& error, const std::string& word) {
  return error.find(word) != std::string::npos;
}

}  // namespace

TEST_CASE("an environment without a word of Resprout gives the defaults") {
  const ParsedOptions parsed = parse({"HOME=/home/me", "XRESPROUT_ON_LOSS=error"});
  CHECK(parsed.error.empty());
  CHECK(parsed.options.on_loss == OnLoss::go_on);
  CHECK(parsed.options.on_unanswered == OnUnanswered::handler);
  CHECK(parsed.options.transport == TransportChoice::automatic);
  CHECK(parsed.options.collectives == Collectives::automatic);
  CHECK(parsed.options.sum == Sum::any);
  CHECK(parsed.options.missing.what == Missing::What::nothing);
  CHECK(parsed.options.faults.empty());
}

TEST_CASE("each variable reaches its option") {
  const ParsedOptions parsed =
      parse({"RESPROUT_ON_LOSS=error", "RESPROUT_TRANSPORT=tcp", "RESPROUT_VERBOSE=1",
             "RESPROUT_COLLECTIVES=native", "RESPROUT_SUM=reproducible", "RESPROUT_MISSING=-2.5",
             "RESPROUT_HEARTBEAT_PERIOD_MS=20", "RESPROUT_HEARTBEAT_TIMEOUT_MS=300",
             "RESPROUT_BCAST=corrected-tree:tree=binomial", "RESPROUT_ALLREDUCE=ftco-allreduce",
             "RESPROUT_RUN_DIR=/somewhere/with = in it", "RESPROUT_NETWORK=fd00::/64",
             "RESPROUT_RADIX=16", "RESPROUT_ON_UNANSWERED=abort",
             "RESPROUT_ORDER=lines:node2 0;node1 0"});
  REQUIRE(parsed.error == "");
  CHECK(parsed.options.on_loss == OnLoss::error);
  CHECK(parsed.options.on_unanswered == OnUnanswered::abort);
  CHECK(parsed.options.transport == TransportChoice::tcp);
  CHECK(parsed.options.collectives == Collectives::native);
  CHECK(parsed.options.sum == Sum::reproducible);
  CHECK(parsed.options.missing.what == Missing::What::value);
  CHECK(parsed.options.missing.value == -2.5L);
  CHECK(parsed.options.verbose);
  CHECK(parsed.options.heartbeat_period_ms == 20);
  CHECK(parsed.options.heartbeat_timeout_ms == 300);
  CHECK(parsed.options.bcast == "corrected-tree:tree=binomial");
  CHECK(parsed.options.allreduce == "ftco-allreduce");
  CHECK(parsed.options.network == "fd00::/64");
  CHECK(parsed.options.radix == 16);
  REQUIRE(parsed.options.order);
  CHECK(parsed.options.order->find("10.0.0.1", 0, "node1") == 1);
  CHECK(parsed.options.run_directory == "/somewhere/with = in it");
}

TEST_CASE("how far replicas may be apart is messages, or bytes with a unit, or has no bound") {
  const auto bound = [](const std::string& value) {
    const ParsedOptions parsed = parse({"RESPROUT_SHADOW_LAG=" + value});
    REQUIRE(parsed.error == "");
    return parsed.options.shadow_lag;
  };
  const auto none = resprout::runtime::Steps::no_bound();
  CHECK(parse({}).options.shadow_lag == bound("256MiB"));
  CHECK(bound("10000") == resprout::runtime::Steps{10000, none.bytes});
  CHECK(bound("64KiB") == resprout::runtime::Steps{none.messages, 64 << 10});
  CHECK(bound("3GiB") == resprout::runtime::Steps{none.messages, std::uint64_t{3} << 30});
  CHECK(bound("none") == none);
  for (const std::string wrong : {"1", "0", "-4", "63KiB", "64 MiB", "64M", "1e6", "MiB", "all",
                                  "18446744073709551616", "99999999999GiB"})
    CHECK(speaks_of(error_of("RESPROUT_SHADOW_LAG=" + wrong), "bytes, 64KiB or more"));
}

TEST_CASE("what was measured on this machine comes with auto") {
  const ParsedOptions parsed =
      parse({"RESPROUT_COLLECTIVES=auto:cores=2;ranks=4,barrier=,bcast=,reduce=,allreduce=4096"});
  REQUIRE(parsed.error == "");
  CHECK(parsed.options.collectives == Collectives::automatic);
  const Calibration::Row* row = parsed.options.calibration.row_for({4, true});
  REQUIRE(row != nullptr);
  CHECK(row->is_native_faster(Kind::allreduce, 4096));
  CHECK_FALSE(row->is_native_faster(Kind::allreduce, 4095));
  const std::string error = error_of("RESPROUT_COLLECTIVES=auto:cores=2;ranks=many");
  CHECK(speaks_of(error, "RESPROUT_COLLECTIVES: what follows auto: is no calibration"));
  CHECK(speaks_of(error, "'ranks=many'"));
  CHECK(speaks_of(error_of("RESPROUT_COLLECTIVES=mine"), "auto, native, resprout or trees"));
}

TEST_CASE("a variable that is set to nothing counts as not set") {
  const ParsedOptions parsed = parse({"RESPROUT_ON_LOSS=", "RESPROUT_INJECT="});
  CHECK(parsed.error.empty());
  CHECK(parsed.options.on_loss == OnLoss::go_on);
}

TEST_CASE("the launcher's own variables are let through, misspelled ones are not") {
  CHECK(error_of("RESPROUT_STRICT=1").empty());
  const std::string error = error_of("RESPROUT_ONLOSS=error");
  CHECK(speaks_of(error, "RESPROUT_ONLOSS"));
  CHECK(speaks_of(error, "RESPROUT_ON_LOSS"));
}

TEST_CASE("a wrong value names the variable, the value and what is valid, on one line") {
  for (const auto& [line, valid] : std::vector<std::pair<std::string, std::string>>{
           {"RESPROUT_ON_LOSS=panic", "continue, error or restart"},
           {"RESPROUT_TRANSPORT=udp", "auto, shm or tcp"},
           {"RESPROUT_VERBOSE=yes", "0 or 1"},
           {"RESPROUT_NETWORK=10.0.0.0", "10.0.0.0/8"},
           {"RESPROUT_NETWORK=10.0.0.0/33", "10.0.0.0/8"},
           {"RESPROUT_NETWORK=eth0/8", "10.0.0.0/8"},
           {"RESPROUT_REPLICAS=4", "1, 2 or 3"},
           {"RESPROUT_MISSING=1_000", "nothing, last, mean, linear or a number"},
           {"RESPROUT_MISSING= 7", "nothing, last, mean, linear or a number"},
           {"RESPROUT_MISSING=1e9999", "nothing, last, mean, linear or a number"},
           {"RESPROUT_RADIX=3", "a power of two from 2 to 1024"},
           {"RESPROUT_RADIX=2048", "a power of two from 2 to 1024"},
           {"RESPROUT_ORDER=hosts.txt", "lines:HOST [GROUP]"},
           {"RESPROUT_ORDER=lines:a;b:5", "2: 'b:5' is not HOST"},
           {"RESPROUT_HEARTBEAT_PERIOD_MS=-5", "milliseconds"},
           {"RESPROUT_HEARTBEAT_TIMEOUT_MS=1e3", "milliseconds"},
           {"RESPROUT_HEARTBEAT_TIMEOUT_MS=99999999999", "milliseconds"}}) {
    CAPTURE(line);
    const std::string error = error_of(line);
    CHECK(speaks_of(error, line.substr(0, line.find('='))));
    CHECK(speaks_of(error, line.substr(line.find('=') + 1)));
    CHECK(speaks_of(error, valid));
    CHECK_FALSE(speaks_of(error, "\n"));
  }
}

TEST_CASE("a process of a plane knows its plane and how many there are") {
  const Options options = parse({"RESPROUT_REPLICAS=3", "RESPROUT_REPLICA=1"}).options;
  CHECK(options.is_replicated());
  CHECK(options.replicas == 3);
  CHECK(options.replica == 1);
  CHECK_FALSE(parse({"RESPROUT_REPLICAS=1"}).options.is_replicated());
}

TEST_CASE("replicas without planes are refused: only the launcher can start them") {
  CHECK(speaks_of(parse({"RESPROUT_REPLICAS=2"}).error, "resprout run"));
}

TEST_CASE("where the job is started again a process ends with the first loss, as in a plane") {
  const Options restarted = parse({"RESPROUT_ON_LOSS=restart", "RESPROUT_RESTART=2"}).options;
  CHECK(ends_with_first_loss(restarted));
  CHECK_FALSE(goes_on_without(restarted));
  CHECK(leaves_collectives_to_library(restarted));
  const Options plane = parse({"RESPROUT_REPLICAS=2", "RESPROUT_REPLICA=0"}).options;
  CHECK(ends_with_first_loss(plane));
  CHECK_FALSE(goes_on_without(plane));
  for (const char* on_loss : {"RESPROUT_ON_LOSS=continue", "RESPROUT_ON_LOSS=error"}) {
    CHECK_FALSE(ends_with_first_loss(parse({on_loss}).options));
    CHECK(goes_on_without(parse({on_loss}).options));
  }
}

TEST_CASE("what stands in for the missing is a word or a number") {
  using What = Missing::What;
  CHECK(parse({"RESPROUT_MISSING=mean"}).options.missing.what == What::mean);
  CHECK(parse({"RESPROUT_MISSING=linear"}).options.missing.what == What::linear);
  CHECK(parse({"RESPROUT_MISSING=linear"}).options.missing.is_remembered());
  CHECK_FALSE(parse({"RESPROUT_MISSING=3"}).options.missing.is_remembered());
  CHECK(speaks_of(parse({"RESPROUT_MISSING=median"}).error, "mean, linear or a number"));
}

TEST_CASE("the timeout must be longer than the period") {
  CHECK(speaks_of(parse({"RESPROUT_HEARTBEAT_PERIOD_MS=2000"}).error, "greater"));
}

TEST_CASE("every form of fault is understood") {
  const ParsedOptions parsed =
      parse({"RESPROUT_INJECT=kill:rank=3,at=2s;kill:rank=0,at=allreduce#40;stop:rank=2,at=150ms;"
             "exit:rank=1,at=reduce_scatter#3,status=7;exit:at=80us,rank=7;kill:rank=4,at=0.5s;"
             "flip:bit=17,rank=3,message=100;flip:rank=0,message=1,bit=18446744073709551615;"
             "flip:rank=2,where=memory,checkpoint=5,bit=9;flip:rank=2,collective=7,bit=9;"
             "flip:rank=2,where=heap,at=send#3,bit=9;flip:rank=2,where=process,at=2ms"});
  REQUIRE(parsed.error == "");
  const std::vector<Fault>& faults = parsed.options.faults;
  REQUIRE(faults.size() == 12);
  CHECK(faults[0].kind == Fault::Kind::kill);
  CHECK(faults[0].rank == 3);
  CHECK(faults[0].at_s == 2.0);
  CHECK(faults[0].call.empty());
  CHECK(faults[0].text == "kill:rank=3,at=2s");
  CHECK(faults[1].call == "allreduce");
  CHECK(faults[1].count == 40);
  CHECK_FALSE(faults[1].at_s.has_value());
  CHECK(faults[2].kind == Fault::Kind::stop);
  CHECK(faults[2].at_s.value() == doctest::Approx(0.15));
  CHECK(faults[3].kind == Fault::Kind::exit);
  CHECK(faults[3].status == 7);
  CHECK(faults[4].at_s.value() == doctest::Approx(80e-6));
  CHECK(faults[4].status == 1);
  CHECK(faults[5].at_s == 0.5);
  CHECK(faults[6].kind == Fault::Kind::flip);
  CHECK(faults[6].rank == 3);
  CHECK(faults[6].message == 100);
  CHECK(faults[6].bit == 17);
  CHECK(faults[7].bit == ~std::uint64_t{0});
  CHECK(faults[8].message == 0);
  CHECK(faults[8].checkpoint == 5);
  CHECK(faults[8].bit == 9);
  CHECK(faults[9].message == 0);
  CHECK(faults[9].collective == 7);
  CHECK(faults[9].area == Fault::Area::none);
  CHECK(faults[10].area == Fault::Area::heap);
  CHECK(faults[10].call == "send");
  CHECK(faults[11].area == Fault::Area::process);
  CHECK(faults[11].at_s == 2e-3);
}

TEST_CASE("a fault that is not quite one is refused with the valid forms") {
  for (const char* text : {"kill",
                           "kill:",
                           "burn:rank=1,at=1s",
                           "kill:rank=1",
                           "kill:at=1s",
                           "kill:rank=-1,at=1s",
                           "kill:rank=1,at=1",
                           "kill:rank=1,at=-1s",
                           "kill:rank=1,at=infs",
                           "kill:rank=1,at=nans",
                           "kill:rank=1,at=1h",
                           "kill:rank=1,at=bcast#0",
                           "kill:rank=1,at=bcast#",
                           "kill:rank=1,at=#3",
                           "kill:rank=1,at=MPI_Bcast#3",
                           "kill:rank=1,at=1s,status=1",
                           "exit:rank=1,at=1s,status=256",
                           "kill:rank=1,rank=2,at=1s",
                           "kill:rank=1,at=1s,at=bcast#1",
                           "kill:rank=1,at=1s ",
                           "kill:rank=1x,at=1s",
                           "kill:rank=99999999999,at=1s",
                           "flip:rank=1,message=1,at=1s",
                           "flip:rank=1",
                           "flip:message=1",
                           "flip:rank=1,message=0",
                           "flip:rank=1,message=1,bit=-1",
                           "flip:rank=1,message=1,bit=18446744073709551616",
                           "flip:rank=1,message=1,message=2",
                           "flip:rank=1,message=1,collective=1",
                           "flip:rank=1,collective=0",
                           "flip:rank=1,where=memory,collective=1",
                           "flip:rank=1,checkpoint=1",
                           "flip:rank=1,where=memory",
                           "flip:rank=1,where=disk,checkpoint=1",
                           "flip:rank=1,where=memory,message=1,checkpoint=1",
                           "flip:rank=1,where=heap",
                           "flip:rank=1,where=heap,at=1s,message=1",
                           "flip:rank=1,where=memory,checkpoint=1,at=1s",
                           "kill:rank=1,where=heap,at=1s",
                           "kill:rank=1,at=1s,bit=1",
                           "kill:rank=1,at=1s;;",
                           "kill:rank=1,at=1s;kill"}) {
    CAPTURE(text);
    const std::string error = error_of(std::string("RESPROUT_INJECT=") + text);
    CHECK(speaks_of(error, "RESPROUT_INJECT"));
    CHECK(speaks_of(error, "kill:rank=3,at=2s"));
  }
}

TEST_CASE("a fault for a rank that the job does not have is refused") {
  CHECK(speaks_of(error_of("RESPROUT_INJECT=kill:rank=8,at=1s"), "one of the 8 ranks"));
}

TEST_CASE("faults that only the launcher can make concrete are refused as such") {
  CHECK(speaks_of(error_of("RESPROUT_INJECT=kill:count=2,seed=7,within=5s"), "resprout run"));
}
