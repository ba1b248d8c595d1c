<?php
// The extension php-amqp, on librabbitmq: one host; hosts and reconnecting are the program's.
[, $queueName, $count] = $argv;
$urls = explode(',', getenv('AMQP_URLS'));
$got = [];
$number = 1;
$tried = 0;
for ($at = 0; count($got) < $count || $number <= $count; $at++) {
    $parts = parse_url($urls[$at % count($urls)]);
    try {
        $connection = new AMQPConnection(['host' => $parts['host'], 'port' => $parts['port'], 'login' => 'guest', 'password' => 'guest', 'connect_timeout' => 2, 'read_timeout' => 10]);
        $connection->connect();
        $publishing = new AMQPChannel($connection);
        $publishing->confirmSelect();
        $publishing->setConfirmCallback(fn () => false, function () { throw new Exception('refused'); });
        $consuming = new AMQPChannel($connection);
        $queue = new AMQPQueue($consuming);
        $queue->setName($queueName);
        $queue->setFlags(AMQP_DURABLE);
        $queue->declareQueue();
        $exchange = new AMQPExchange($publishing);
        while (count($got) < $count || $number <= $count) {
            if ($number <= $count) {
                if ($tried === $number) echo "again $number\n";
                $tried = $number;
                $exchange->publish((string) $number, $queueName, AMQP_NOPARAM, ['delivery_mode' => 2]);
                $publishing->waitForConfirm(10);
                echo "confirmed $number\n";
                $number++;
            }
            $message = $queue->get();
            if ($message) {
                $got[(int) $message->getBody()] = true;
                echo "got {$message->getBody()}", $message->isRedelivery() ? ' redelivered' : '', "\n";
                $queue->ack($message->getDeliveryTag());
            }
            usleep(5000);
        }
        $connection->disconnect();
    } catch (Exception $error) {
        fwrite(STDERR, get_class($error) . ' ' . $error->getMessage() . "\n");
        usleep(200000);
    }
}
