import { until } from '../../../acceptance/client/until.ts'
import type { Gateway } from './gateway.ts'
import type { OperatorProcess } from './operator-process.ts'

/** Many more than all objects of a test need writes. */
const livesMax = 60

/**
 * Starts the operator again and again; each life ends with its first write, whose answer it never hears. Gives how many
 * lives it took.
 */
export async function livesUntil(
  { gateway, operator }: { readonly gateway: Gateway; readonly operator: OperatorProcess },
  isDone: () => Promise<boolean>,
): Promise<number> {
  for (let lives = 1; lives <= livesMax; lives++) {
    let hasWritten = false
    gateway.cutAfter(1, () => (hasWritten = true))
    gateway.join()
    await operator.launch()
    await until('a write, or the end', async () => hasWritten || (await isDone()), 60_000)
    await operator.kill()
    if (await isDone()) return lives
  }
  throw new Error(`not done after ${livesMax} lives`)
}
