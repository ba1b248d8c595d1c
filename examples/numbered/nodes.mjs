/** The nodes of a cluster, any of which serves: connects to the one that was asked for, or to the next that answers. */
import amqp from 'amqplib';

const connectTimeoutMs = 2000;
const pauseMs = 50;

export class Nodes {
  /** @param {string[]} urls amqp://HOST:PORT of each node */
  constructor(urls) {
    this.urls = urls;
    /** Why the last attempt failed. */
    this.trouble = '';
  }

  /**
   * Tries the nodes in turn, from number `first` on, until one answers.
   * @param {() => boolean} isWanted asked before each attempt: resolves to undefined once nobody wants a connection any more
   */
  async connect(first, isWanted) {
    for (let attempt = 0; isWanted(); attempt++) {
      const node = (first + attempt) % this.urls.length;
      try {
        const connection = await amqp.connect(this.urls[node], { timeout: connectTimeoutMs, noDelay: true });
        // What follows every error is 'close'; that is where users of the connection act.
        connection.on('error', () => {});
        return { connection, node };
      } catch (error) {
        this.trouble = error.message;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
    return undefined;
  }
}
