/** `EnqueueView.format` of what is no message, but a node's word in a queue that moves (src/cluster/moving). For its mover only. */
export const markerFormat = 255;

/** The mover's consumer tag. No client's consumer has it: who gives none is given one. */
export const moverTag = '';
