import type { Config } from '../platform/config.ts'
import { createRest, type Rest } from '../rest/create-rest.ts'
import { warnOfFewHandles } from './enough-handles.ts'
import { type Ground, layGround } from './ground.ts'
import { type House, inHouse, type Overrides } from './house.ts'
import { httpConnectionsMax, startHttp } from './http.ts'
import { type Leaving, leaveThrough, noticeOf } from './leaving.ts'
import { type Reading, startReading } from './reading.ts'
import { requireStores } from './require-stores.ts'

export interface RunningRest extends Leaving {
  readonly httpPort: number
  readonly opsPort: number
}

/** Answers requests from shared stores; any number of these stand behind one address. */
export function startRest(config: Config, overrides: Overrides = {}): Promise<RunningRest> {
  return inHouse(config, overrides, async (house) => {
    if (!overrides.stores) requireStores('rest', config)
    const ground = await layGround(house, overrides, { migrates: false, admits: true })
    const { health } = ground
    warnOfFewHandles(house, httpConnectionsMax(house, false))
    const rest = await startRestEdge(house, ground, await startReading(house, ground))
    // Listening before the stores are there: an answer that says so is better than none.
    const httpPort = await startHttp(house, { handle: rest.handler })
    health.listening()
    await ground.loaded()
    return {
      httpPort,
      opsPort: health.port,
      ...leaveThrough(house, health, (hurried) => house.clock.sleep(noticeOf(house), hurried)),
    }
  })
}

export function startRestEdge(house: House, ground: Ground, reading: Reading): Promise<Rest> {
  const { config, clock, log, metrics, lifecycle } = house
  const { stores, registry } = ground
  const { trustedProxies } = config
  return lifecycle.start({
    name: 'rest',
    start: () => createRest({ ...stores, ...reading, registry, clock, log, metrics, trustedProxies }),
    stop: (rest) => rest.close(),
  })
}
