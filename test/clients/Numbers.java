import com.rabbitmq.client.*;
import java.util.*;
import java.util.concurrent.*;

/** The Java client: a list of addresses, automatic recovery of connection and topology. */
public class Numbers {
  public static void main(String[] arguments) throws Exception {
    String queue = arguments[0];
    int count = Integer.parseInt(arguments[1]);
    List<Address> addresses = new ArrayList<>();
    for (String url : System.getenv("AMQP_URLS").split(",")) {
      java.net.URI uri = java.net.URI.create(url);
      addresses.add(new Address(uri.getHost(), uri.getPort()));
    }
    ConnectionFactory factory = new ConnectionFactory();
    factory.setNetworkRecoveryInterval(200);
    factory.setConnectionTimeout(2000);
    Connection connection = factory.newConnection(addresses);
    Set<Integer> got = ConcurrentHashMap.newKeySet();
    Channel consuming = connection.createChannel();
    consuming.queueDeclare(queue, true, false, false, null);
    consuming.basicQos(10);
    consuming.basicConsume(queue, false, new DefaultConsumer(consuming) {
      @Override public void handleDelivery(String tag, Envelope envelope, AMQP.BasicProperties properties, byte[] body) {
        got.add(Integer.parseInt(new String(body)));
        System.out.println("got " + new String(body) + (envelope.isRedeliver() ? " redelivered" : ""));
        try { getChannel().basicAck(envelope.getDeliveryTag(), false); } catch (Exception error) { System.err.println(error); }
      }
    });
    Channel channel = connection.createChannel();
    channel.confirmSelect();
    for (int number = 1; number <= count; number++) {
      for (int attempt = 1; ; attempt++) {
        if (attempt > 1) System.out.println("again " + number);
        try {
          channel.basicPublish("", queue, MessageProperties.PERSISTENT_BASIC, String.valueOf(number).getBytes());
          channel.waitForConfirmsOrDie(10000);
          break;
        } catch (Exception error) {
          System.err.println(error);
          Thread.sleep(300);
        }
      }
      System.out.println("confirmed " + number);
      Thread.sleep(5);
    }
    while (got.size() < count) Thread.sleep(10);
    connection.close();
  }
}
