import { afterAll, afterEach, expect, test } from 'vitest'
import { Fxd } from '../../clients/typescript/src/index.ts'
import { minutesAgo } from '../acceptance/client/clocks.ts'
import { until } from '../acceptance/client/until.ts'
import { endForeignProcesses } from '../interop/foreign-process.ts'
import { columns, discardStubs, openSession } from '../interop/python-collector.ts'
import { useService } from './one-service.ts'
import { endStreams, Taken } from './taken.ts'

const service = useService()
afterEach(async () => {
  await endStreams()
  endForeignProcesses()
})
afterAll(discardStubs)

const symbol = 'BROKERE:LIVE:EURUSD'
const connected = async () => {
  const collector = (await openSession('BROKERE:LIVE', 'EURUSD')).terminal
  let sequence = 0
  return async (lane: string, times: readonly number[]) => {
    collector.send({
      bars: { sequence: ++sequence, lane, series: [columns('EURUSD', times, 110_000)] },
    })
    await collector.next('the Ack', (line) => 'ack' in line)
  }
}

test('bars that a collector brings after a kill of the service and after a live bar are given before it', async () => {
  const times = [8, 7, 6, 5, 4].map((back) => minutesAgo('BROKERB:LIVE', back))
  const first = await connected()
  await first('LANE_LIVE', times.slice(0, 1))
  const fxd = new Fxd({ url: service.url, key: service.key })
  const taken = new Taken(fxd.bars(symbol, { from: times[0]! }))
  await taken.untilBars(symbol, 1)
  await service.kill()
  await service.start()
  await until('the return of the client', async () => (await fxd.usage()).current.ws_connections_in_use > 0)
  const second = await connected()
  await second('LANE_LIVE', times.slice(3, 4))
  await second('LANE_BACKFILL', times.slice(1, 3))
  await second('LANE_LIVE', times.slice(4))
  await until('the newest bar', () => taken.bars(symbol).at(-1)?.time === times[4])
  expect(taken.items).toHaveLength(5)
  expect(taken.bars(symbol).map(({ time }) => time)).toEqual(times)
})
