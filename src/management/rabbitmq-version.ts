/** The RabbitMQ whose HTTP API and definitions these are. */
export const rabbitmqVersion = '3.10.8';
