import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { RegistryBody } from '../../core/registry/registry.ts'
import type { Log } from '../../platform/log/log.ts'
import { OutageLog } from '../../platform/outage-log.ts'
import { SharedRun } from '../../platform/serial.ts'
import type { BarStore } from '../../ports/bars.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FollowedRegistry } from '../../registry/follow.ts'
import type { RegistryWriter } from '../../registry/writer.ts'
import { freedRow, readHiddenNames } from '../registry/hidden-names.ts'

const checkEveryMs = 600_000
const hiddenMs = 86_400_000

export interface HiddenNamesDeps {
  readonly bars: Pick<BarStore, 'lastTimes'>
  readonly registry: Pick<FollowedRegistry, 'view'>
  readonly writer: RegistryWriter
  readonly clock: Clock
  readonly log: Log
}

/**
 * Frees names that were hidden and without bars for a day. Each check first records since when a name is so, so that
 * the day continues after a restart. Any number of processes may run it. Returns the function that stops it.
 */
export function freeHiddenNames(deps: HiddenNamesDeps): () => void {
  const { registry, clock, log } = deps
  const outage = new OutageLog({ log, clock })
  let isStopped = false

  const checks = new SharedRun(async () => {
    const view = registry.view()
    const failures: unknown[] = []
    for (const { definition } of view.allFeeds()) {
      if (isStopped) return
      if (!view.allSymbolsOf(definition.key).some(({ hidden }) => hidden)) continue
      await check(definition.key, deps).catch((cause: unknown) => failures.push(cause))
    }
    if (failures.length > 0) throw failures[0]
  })
  const cancel = clock.every(checkEveryMs, () => {
    checks.run().then(
      () => outage.worked('hidden names are checked again'),
      (cause: unknown) =>
        outage.failed({ text: 'failed to check hidden names; retrying every 10 minutes', cause }),
    )
  })
  return () => {
    isStopped = true
    cancel()
  }
}

async function check(feed: FeedKey, { bars, registry, writer, clock, log }: HiddenNamesDeps): Promise<void> {
  const hiddenNames = await readHiddenNames(feed, registry.view(), bars)
  const now = clock.utcMs()
  const freed = await writer.change((newest) => {
    const rows = hiddenNames(newest).flatMap((body): RegistryBody[] => {
      if (body.hiddenSince === undefined)
        return [{ kind: 'symbol', id: body.symbol, body: { ...body, hiddenSince: now } }]
      return now - body.hiddenSince < hiddenMs ? [] : [freedRow(body)]
    })
    return { rows, result: rows.filter(({ body }) => 'freed' in body).length }
  })
  if (freed > 0) log.info({ feed, names: freed }, 'hidden names without bars freed')
}
