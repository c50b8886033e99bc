// A market data venue made of QuickFIX/C++, to test the FIX session against code of other authors. Arguments: the settings file.
// Says on standard output what it hears: "logon", "request SYMBOL", "logout". Each line on standard input is an order:
// "test", "resend" and "quit" go to the session.
#include <quickfix/Application.h>
#include <quickfix/FileStore.h>
#include <quickfix/MessageStore.h>
#include <quickfix/Session.h>
#include <quickfix/SessionSettings.h>
#include <quickfix/ThreadedSocketAcceptor.h>
#include <iostream>
#include <string>
#include <vector>

class Venue : public FIX::NullApplication {
public:
  FIX::SessionID peer;
  void onLogon(const FIX::SessionID& id) override {
    peer = id;
    std::cout << "logon" << std::endl;
  }
  void onLogout(const FIX::SessionID&) override { std::cout << "logout" << std::endl; }
  void fromAdmin(const FIX::Message& message, const FIX::SessionID&) throw(FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue, FIX::RejectLogon) override {
    if (message.getHeader().getField(35) == "A" && message.getField(554) != "right") throw FIX::RejectLogon("invalid password");
    if (message.getHeader().getField(35) == "0" && message.isSetField(112)) std::cout << "alive " << message.getField(112) << std::endl;
  }
  void fromApp(const FIX::Message& request, const FIX::SessionID& id) throw(FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue, FIX::UnsupportedMessageType) override {
    // With a data dictionary, the symbols are in groups; without one, among the fields.
    std::vector<std::string> symbols;
    for (int at = 1; at <= static_cast<int>(request.groupCount(146)); at += 1) symbols.push_back(request.getGroupRef(at, 146).getField(55));
    for (auto field = request.begin(); field != request.end(); ++field)
      if (field->getTag() == 55) symbols.push_back(field->getString());
    for (const std::string& symbol : symbols) {
      std::cout << "request " << symbol << std::endl;
      if (symbol == "XAU/USD") {
        FIX::Message refusal = start("Y", request.getField(262));
        refusal.setField(281, "0");
        FIX::Session::sendToTarget(refusal, id);
      } else {
        send("W", request.getField(262), symbol, "1.08543", "1.08551");
        for (int step = 0; step < 100; step += 1)
          send("X", request.getField(262), symbol, "1.0" + std::to_string(8600 + step), "1.0" + std::to_string(8610 + step));
      }
    }
  }
  static FIX::Message start(const std::string& type, const std::string& request) {
    FIX::Message message;
    message.getHeader().setField(35, type);
    message.setField(262, request);
    return message;
  }
  void send(const std::string& type, const std::string& request, const std::string& symbol, const std::string& bid, const std::string& ask) {
    FIX::Message message = start(type, request);
    if (type == "W") message.setField(55, symbol);
    for (const char* side : {"0", "1"}) {
      FIX::Group entry(268, type == "W" ? 269 : 279);
      if (type == "X") entry.setField(279, "0");
      entry.setField(269, side);
      if (type == "X") entry.setField(55, symbol);
      entry.setField(270, *side == '0' ? bid : ask);
      entry.setField(271, "1000000");
      message.addGroup(entry);
    }
    FIX::Session::sendToTarget(message, peer);
  }
};

int main(int, char** arguments) {
  FIX::SessionSettings settings(arguments[1]);
  Venue venue;
  FIX::MemoryStoreFactory store;
  FIX::ThreadedSocketAcceptor acceptor(venue, store, settings);
  acceptor.start();
  std::cout << "listening" << std::endl;
  for (std::string order; std::getline(std::cin, order) && order != "quit";) {
    FIX::Message message;
    message.getHeader().setField(35, order == "test" ? "1" : "2");
    if (order == "test") message.setField(112, "are you there");
    else {
      message.setField(7, "1");
      message.setField(16, "0");
    }
    FIX::Session::sendToTarget(message, venue.peer);
  }
  acceptor.stop();
}
