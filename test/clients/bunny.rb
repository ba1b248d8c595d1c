# Bunny: a list of hosts, and recovery by itself: connection, channels, queues and consumers.
require 'bunny'
require 'set'
require 'uri'

$stdout.sync = true
queue_name, count = ARGV[0], ARGV[1].to_i
addresses = ENV['AMQP_URLS'].split(',').map { |url| URI(url) }.map { |uri| "#{uri.host}:#{uri.port}" }
recovered = Queue.new
connection = Bunny.new(addresses: addresses, network_recovery_interval: 0.3, recover_from_connection_close: true,
                       hosts_shuffle_strategy: ->(hosts) { hosts }, continuation_timeout: 5000, log_level: :fatal,
                       recovery_completed: -> { recovered << true })
connection.start
got = Set.new
consuming = connection.create_channel
consuming.prefetch(10)
consuming.queue(queue_name, durable: true).subscribe(manual_ack: true) do |delivery, _properties, body|
  got << body.to_i
  puts "got #{body}#{delivery.redelivered? ? ' redelivered' : ''}"
  begin
    consuming.ack(delivery.delivery_tag)
  rescue Bunny::Exception, IOError, SystemCallError => error
    warn "ack of #{body}: #{error.message}"
  end
end
channel = connection.create_channel
channel.confirm_select
(1..count).each do |number|
  attempt = 0
  begin
    attempt += 1
    puts "again #{number}" if attempt > 1
    channel.default_exchange.publish(number.to_s, routing_key: queue_name, persistent: true)
    raise 'refused' unless channel.wait_for_confirms
  rescue StandardError, Timeout::Error => error
    warn "#{number}: #{error.class} #{error.message}"
    # What is published meanwhile would go into the middle of the handshake.
    recovered.pop
    retry
  end
  puts "confirmed #{number}"
  sleep 0.005
end
sleep 0.01 while got.size < count
connection.close
