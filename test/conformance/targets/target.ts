/** A broker that the cases run against. */
export interface Target extends AsyncDisposable {
  /** For people: 'one broker'. */
  readonly name: string;
  /** Of 127.0.0.1. */
  readonly port: number;
  /** Of its HTTP API, there too. */
  readonly httpPort: number;
  /** False: RabbitMQ, against which our reading of the rules is checked. */
  readonly isOurs: boolean;
}
