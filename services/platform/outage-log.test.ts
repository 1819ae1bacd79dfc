import { expect, test } from 'vitest'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import { createLog } from './log/log.ts'
import { OutageLog } from './outage-log.ts'

const [info, warn, error] = [30, 40, 50]
const unavailable = { text: 'feed board unavailable' }

function fixture() {
  const clock = createVirtualClock()
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', {
    write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  })
  return { clock, lines, outage: new OutageLog({ log, clock, about: { feed: 'BROKERA:ZERO' } }) }
}

test('an outage is logged once when it begins, and once with its duration when it ends', async () => {
  const { clock, lines, outage } = fixture()
  outage.worked('feed board available again')
  expect(lines).toEqual([])
  for (let i = 0; i < 3; i++) {
    outage.failed({ ...unavailable, cause: new Error('refused') })
    expect(outage.isOut).toBe(true)
    await clock.advance(20_000)
  }
  expect(lines).toMatchObject([
    { level: warn, msg: unavailable.text, feed: 'BROKERA:ZERO', err: { message: 'refused' } },
  ])
  outage.worked('feed board available again')
  outage.worked('feed board available again')
  expect(outage.isOut).toBe(false)
  expect(lines.slice(1)).toMatchObject([
    { level: info, msg: 'feed board available again', feed: 'BROKERA:ZERO', seconds: 60 },
  ])
})

test('an outage after a success is logged again, at the level of its failure', () => {
  const { lines, outage } = fixture()
  outage.failed(unavailable)
  outage.worked('feed board available again')
  outage.failed({ ...unavailable, level: 'error' })
  expect(lines.map(({ level }) => level)).toEqual([warn, info, error])
})

test('a failure for another reason is logged within an outage, whose duration counts from the first failure', async () => {
  const { clock, lines, outage } = fixture()
  for (const reason of ['refused', 'refused', 'timed out']) {
    outage.failed({ text: `feed board ${reason}`, reason })
    await clock.advance(5_000)
  }
  outage.worked('feed board available again')
  expect(lines).toMatchObject([
    { msg: 'feed board refused' },
    { msg: 'feed board timed out' },
    { msg: 'feed board available again', seconds: 15 },
  ])
})

test('the duration of an outage that failed for some time before its log includes that time', async () => {
  const { clock, lines, outage } = fixture()
  outage.failed({ ...unavailable, failingMs: 10_000 })
  await clock.advance(5_000)
  outage.worked('feed board available again')
  expect(lines).toMatchObject([{ level: warn }, { level: info, seconds: 15 }])
})
