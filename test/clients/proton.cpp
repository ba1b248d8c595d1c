// Qpid Proton for C++: see README.md. One connection, which Proton opens again by itself, with its links.
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <proton/connection.hpp>
#include <proton/connection_options.hpp>
#include <proton/container.hpp>
#include <proton/delivery.hpp>
#include <proton/duration.hpp>
#include <proton/error_condition.hpp>
#include <proton/message.hpp>
#include <proton/messaging_handler.hpp>
#include <proton/receiver_options.hpp>
#include <proton/reconnect_options.hpp>
#include <proton/sender.hpp>
#include <proton/tracker.hpp>
#include <proton/transport.hpp>
#include <proton/work_queue.hpp>

class client : public proton::messaging_handler {
    std::vector<std::string> urls_;
    std::string queue_;
    int count_;
    int next_;
    bool ticking_;
    proton::sender sender_;
    proton::connection connection_;
    std::map<proton::binary, int> open_;
    std::set<int> again_;
    std::set<int> confirmed_;
    std::set<std::string> got_;

  public:
    client(const std::vector<std::string> &urls, const std::string &queue, int count)
        : urls_(urls), queue_("/queues/" + queue), count_(count), next_(1), ticking_(false) {}

    void on_container_start(proton::container &container) override {
        proton::reconnect_options reconnect;
        reconnect.delay(proton::duration(100)).max_delay(proton::duration(500));
        reconnect.failover_urls(std::vector<std::string>(urls_.begin() + 1, urls_.end()));
        proton::connection_options options;
        options.user("guest").password("guest").sasl_allow_insecure_mechs(true).reconnect(reconnect);
        connection_ = container.connect(urls_[0], options);
        sender_ = connection_.open_sender(queue_);
        connection_.open_receiver(queue_, proton::receiver_options().auto_accept(false).credit_window(10));
    }

    void on_connection_open(proton::connection &connection) override {
        if (connection.reconnected()) {
            for (const auto &each : open_) again_.insert(each.second);
            open_.clear();
        }
        if (!ticking_) tick();
    }

    void tick() {
        ticking_ = true;
        if (sender_.credit() > 0 && open_.size() < 100) send();
        if (!done()) sender_.work_queue().schedule(proton::duration(2), [this]() { tick(); });
    }

    void send() {
        int number = 0;
        if (!again_.empty()) {
            number = *again_.begin();
            again_.erase(again_.begin());
            std::cout << "again " << number << std::endl;
        } else if (next_ <= count_) {
            number = next_++;
        } else {
            return;
        }
        proton::message message(std::to_string(number));
        message.durable(true);
        open_[sender_.send(message).tag()] = number;
    }

    void on_tracker_accept(proton::tracker &tracker) override {
        auto found = open_.find(tracker.tag());
        if (found == open_.end()) return;
        std::cout << "confirmed " << found->second << std::endl;
        confirmed_.insert(found->second);
        open_.erase(found);
        end();
    }

    void on_message(proton::delivery &delivery, proton::message &message) override {
        std::string body = proton::get<std::string>(message.body());
        std::cout << "got " << body << (message.first_acquirer() ? "" : " redelivered") << std::endl;
        got_.insert(body);
        delivery.accept();
        end();
    }

    void on_transport_error(proton::transport &transport) override {
        std::cerr << transport.error().what() << std::endl;
    }

    bool done() const { return int(confirmed_.size()) >= count_ && int(got_.size()) >= count_; }

    void end() {
        if (done()) connection_.close();
    }
};

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    std::vector<std::string> urls;
    std::stringstream text(std::getenv("AMQP_URLS"));
    for (std::string url; std::getline(text, url, ',');) urls.push_back(url);
    // Behind the name of the program's file come the queue and the count.
    client handler(urls, argv[argc - 2], std::atoi(argv[argc - 1]));
    proton::container(handler).run();
    return 0;
}
