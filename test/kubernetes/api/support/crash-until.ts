import { until } from '../../../acceptance/client/until.ts'
import type { OperatorProcess } from './operator-process.ts'
import type { Setting } from './setting.ts'

/** Maximum runs; more than the writes that all objects of a test need. */
const runsMax = 80

interface CrashDeps extends Pick<Setting, 'gateway' | 'registry'> {
  readonly operator: OperatorProcess
  /** Calls the listener after each call that drains a shard, or ends its drain. */
  readonly afterDrainCall?: (listener: () => void) => void
}

/**
 * Starts the operator repeatedly. Each run is killed after its first call that changed an object, the registry or a
 * shard, before it gets the answer. Returns the number of runs, and how many ended with each kind of call.
 */
export async function crashUntil(
  { gateway, registry, operator, afterDrainCall }: CrashDeps,
  isDone: () => Promise<boolean>,
): Promise<Readonly<Record<'runs' | 'object' | 'registry' | 'shard', number>>> {
  const ends = { object: 0, registry: 0, shard: 0 }
  for (let runs = 1; runs <= runsMax; runs++) {
    let hasWritten = false
    const after = (what: keyof typeof ends) => () => {
      if (hasWritten) return
      hasWritten = true
      ends[what] += 1
      gateway.cut()
      registry.cut()
    }
    gateway.restore()
    registry.restore()
    gateway.cutAfterWrite(after('object'))
    registry.cutAfterChange(after('registry'))
    afterDrainCall?.(after('shard'))
    await operator.launch()
    await until('a write, or the end', async () => hasWritten || (await isDone()), 60_000)
    await operator.kill()
    gateway.restore()
    registry.restore()
    if (await isDone()) return { runs, ...ends }
  }
  throw new Error(`not done after ${runsMax} runs: ${JSON.stringify(ends)}`)
}
