/** rhea-promise over WebSocket, as Azure's clients have it. */
process.env.UNDERSTUDY_WEB = '1';
await import('./rhea-promise.mjs');
