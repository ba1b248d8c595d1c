/** `EnqueueView.format` of what is no message, but a node's word in a queue that moves (src/cluster/moving). */
export const markerFormat = 255;
