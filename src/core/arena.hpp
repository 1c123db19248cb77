#pragma once

#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include "core/message_subject.hpp"

namespace recon {

/// A task arena whose workers write messages about what the thread does that makes it.
class Arena : public oneapi::tbb::task_arena {
 public:
  explicit Arena(int threads, unsigned reserved = 1, priority at = priority::normal)
      : task_arena(threads, reserved, at), observer_(*this) {}

 private:
  class Observer : public oneapi::tbb::task_scheduler_observer {
   public:
    explicit Observer(oneapi::tbb::task_arena& arena) : task_scheduler_observer(arena) { observe(true); }
    ~Observer() override { observe(false); }

    void on_scheduler_entry(bool is_worker) override {
      if (is_worker) set_message_subject(subject_);
    }
    void on_scheduler_exit(bool is_worker) override {
      if (is_worker) set_message_subject(nullptr);
    }

   private:
    const MessageSubject subject_ = message_subject();
  };

  Observer observer_;
};

}  // namespace recon
