<?php
// php-amqplib: a list of hosts to connect to; reconnecting is the program's.
require_once 'PhpAmqpLib/autoload.php';
use PhpAmqpLib\Connection\AMQPStreamConnection;
use PhpAmqpLib\Message\AMQPMessage;

[, $queue, $count] = $argv;
$hosts = array_map(function ($url) {
    $parts = parse_url($url);
    return ['host' => $parts['host'], 'port' => $parts['port'], 'user' => 'guest', 'password' => 'guest'];
}, explode(',', getenv('AMQP_URLS')));
$got = [];
$number = 1;
$tried = 0;
$confirmed = 0;
while (count($got) < $count || $number <= $count) {
    try {
        $connection = AMQPStreamConnection::create_connection($hosts, ['connection_timeout' => 2, 'read_write_timeout' => 30, 'heartbeat' => 10]);
        $channel = $connection->channel();
        $channel->queue_declare($queue, false, true, false, false);
        $channel->basic_qos(0, 10, false);
        $channel->confirm_select();
        $channel->set_ack_handler(function ($message) use (&$confirmed) { $confirmed = (int) $message->body; });
        $channel->basic_consume($queue, '', false, false, false, false, function ($message) use (&$got) {
            $got[(int) $message->body] = true;
            echo "got {$message->body}", $message->isRedelivered() ? ' redelivered' : '', "\n";
            $message->ack();
        });
        while (count($got) < $count || $number <= $count) {
            if ($number > $count) {
                $channel->wait(null, false, 5);
                continue;
            }
            if ($tried === $number) echo "again $number\n";
            $tried = $number;
            $channel->basic_publish(new AMQPMessage((string) $number, ['delivery_mode' => 2]), '', $queue);
            while ($confirmed < $number) $channel->wait(null, false, 10);
            echo "confirmed $number\n";
            $number++;
            usleep(5000);
        }
        $connection->close();
    } catch (Exception $error) {
        fwrite(STDERR, get_class($error) . ' ' . $error->getMessage() . "\n");
        usleep(200000);
    }
}
