# What every peer of the comparison serves (../echo.idl); Cap'n Proto has no oneways.
@0xd1b2a4c85f3e9067;

interface EchoServer {
  ping @0 (value :Int64) -> (value :Int64);
  echo @1 (data :Data) -> (data :Data);
  put @2 (data :Data);
  get @3 (size :UInt32) -> (data :Data);
}
