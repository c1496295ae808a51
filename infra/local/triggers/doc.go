// Package triggers invokes functions as AWS does without a caller: from their queues (Lambda's SQS event source
// mapping) and on their schedules (EventBridge rules). It owns polling, the events' shape and what an answer means for
// the messages. It runs no functions (package lambda does) and keeps no messages (the embedded SQS does: visibility
// timeouts and dead letter queues are its business).
package triggers
