import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHistory } from '../../../services/bars/history.ts'
import { createTail } from '../../../services/bars/tail.ts'
import type { CompoundKey } from '../../../services/core/feeds/compound-key.ts'
import { openHttpServer } from '../../../services/platform/http/http-server.ts'
import { silentLog } from '../../../services/platform/log/log.ts'
import { createMetrics } from '../../../services/platform/metrics.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import type { LiveBar } from '../../../services/ports/bus.ts'
import { followRegistry } from '../../../services/registry/follow.ts'
import { openEmbeddedStores } from '../../../services/stores/embedded/open.ts'
import { createStream, streamPath } from '../../../services/stream/stream.ts'
import { feedBody, sampleKey, symbolBody, zero } from '../../support/fixtures/stream-fixture.ts'

/** The stream alone in this process, with these symbols of one feed and a key that may subscribe to all of them. */
export async function startBenchStream(symbols: readonly CompoundKey[]) {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-bench-'))
  const clock = systemClock
  const stores = await openEmbeddedStores({ folder, clock, log: silentLog })
  const registry = followRegistry(stores.registry, stores.bus, clock, silentLog)
  const { secret, record } = sampleKey()
  const limits = { ...record.limits, wsSymbols: 10_000 }
  await stores.registry.append(0, [
    feedBody(zero),
    ...symbols.map((symbol) => symbolBody(zero, symbol.slice(zero.length + 1))),
    { kind: 'key', id: record.id, body: { ...record, limits } },
  ])
  await registry.refresh()
  const metrics = createMetrics({ ofProcess: false })
  const tail = createTail(stores.bus)
  const stream = createStream({
    ...stores,
    history: createHistory({ ...stores, tail, registry, clock }),
    clock,
    log: silentLog,
    metrics,
    registry,
    trustedProxies: [],
    connectionsMax: 20_000,
  })
  const server = await openHttpServer(
    {
      address: { host: '127.0.0.1', port: 0 },
      variable: 'FXD_HTTP_ADDR',
      handle: (_request, response) => void response.writeHead(404).end(),
      upgrade: { path: streamPath, listener: stream.upgrade },
    },
    clock,
  )
  return {
    port: server.port,
    path: `/v1/stream?api_key=${secret}`,
    burst: (bars: readonly LiveBar[]) => void stores.bus.publish({ type: 'bars', feed: zero, bars }, 1),
    async close() {
      stream.close()
      await server.close(0)
      registry.close()
      await stores.close()
      rmSync(folder, { recursive: true })
    },
  }
}
