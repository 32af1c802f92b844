import { AsyncLocalStorage } from "node:async_hooks";
import { isOutage } from "./outages.ts";

/**
 * Joins what is asked at the same moment into one call: while `lanes` calls are under way, asks wait, and go
 * together when one of them ends. Nothing is remembered: a call begins after all that it answers was asked, so
 * every answer is as fresh as one of its own would be.
 *
 * @param askAll gives the answers in the order of the asks; if it fails, each ask is made alone, unless the failure
 *   is an outage. If an answer of its own is a promise that fails, only that ask fails
 * @param most asks of one call
 */
export function together<Ask, Answer>(
  askAll: (asks: readonly Ask[]) => Promise<readonly (Answer | Promise<Answer>)[]>,
  { lanes, most }: { lanes: number; most: number },
): (ask: Ask) => Promise<Answer> {
  const waiting: {
    ask: Ask;
    resolve: (answer: Answer | Promise<Answer>) => void;
    reject: (reason: unknown) => void;
  }[] = [];
  let underWay = 0;
  let isDue = false;
  // A call belongs to none of those who ask, least of all to a transaction that one of them is in.
  const apart = AsyncLocalStorage.snapshot();

  /** At the end of this turn of the event loop, so that what came in with it goes along. */
  function begin(): void {
    if (isDue || underWay >= lanes) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      void call();
    });
  }

  async function call(): Promise<void> {
    const asked = waiting.splice(0, most);
    underWay += 1;
    try {
      const answers = await askAll(asked.map(({ ask }) => ask));
      asked.forEach(({ resolve }, place) => void resolve(answers[place]!));
    } catch (error) {
      const isShared = asked.length === 1 || isOutage(error);
      for (const { ask, resolve, reject } of asked) {
        if (isShared) reject(error);
        // It may be the fault of one of them.
        else await askAll([ask]).then(([answer]) => resolve(answer!), reject);
      }
    } finally {
      underWay -= 1;
      if (waiting.length > 0) apart(begin);
    }
  }

  return (ask) =>
    new Promise((resolve, reject) => {
      waiting.push({ ask, resolve, reject });
      apart(begin);
    });
}
