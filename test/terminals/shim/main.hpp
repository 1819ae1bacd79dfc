// Runs the program after its source: inputs first, then its events.
#pragma once

int main() {
  std::string address = inputOf("Address"), token = inputOf("Token"), role = inputOf("Role");
  std::string memory = inputOf("MemoryMb");
  if (address != "") Address = address;
  if (token != "") Token = token;
  if (role != "") Role = static_cast<BridgeRole>(std::atoi(role.c_str()));
  if (memory != "") MemoryMb = std::atoi(memory.c_str());
#ifdef FXD_MT4
  if (OnInit() == INIT_SUCCEEDED)
    while (!IsStopped()) {
      call("Timer", {std::to_string(timerMs)});
      timePassed();
      OnTimer();
    }
  OnDeinit(0);
#else
  OnStart();
#endif
}
