import type { Scenario } from './scenario.js';

/**
 * A queue moves between groups under load, while nothing fails: nothing is lost or doubled, nothing flagged, and a publisher's messages
 * stay in order, through whatever node they come (rule 22).
 */
export const queueMoves: Scenario = {
  name: 'queue-moves',
  rules: ['closingWaits', 'moveMarkers'],
  firstVersion: false,
  moves: true,
  rounds: 3,
  messages: 600,
  async play(stage) {
    const [near, far] = stage.random.shuffle(stage.world.nodes);
    stage.slow(near!, far!, stage.random.pick([0, 5, 20, 60]));
    for (let i = 0; i < 6; i++) {
      stage.stir();
      await stage.sleep(50, 600);
    }
  },
};
