/** What this server says of itself when a connection starts (§1.4.2.1). */

/** Some clients do things for RabbitMQ, by its product's name and version, that are right here too: they may be told that name. */
export type ProductName = 'understudy' | 'rabbitmq';

export interface Product {
  name: string;
  version: string;
  /** Of this program, whatever the version that is told. */
  ownVersion: string;
  clusterName: string;
}

/** Whose behaviour test/conformance compares with. */
const rabbitmqVersion = '3.10.8';

export function productAs(name: ProductName, ownVersion: string, clusterName: string): Product {
  if (name === 'rabbitmq') return { name: 'RabbitMQ', version: rabbitmqVersion, ownVersion, clusterName };
  return { name: 'Understudy', version: ownVersion, ownVersion, clusterName };
}
