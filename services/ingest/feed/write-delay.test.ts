import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { WriteDelay, writeDelayMaxMs } from './write-delay.ts'

function fixture() {
  const clock = createVirtualClock()
  /** Set while followers of the bus have work of a publication. */
  const work: { promise?: Promise<void> } = {}
  const delay = new WriteDelay(clock, { handled: () => work.promise ?? Promise.resolve() })
  const started: string[] = []
  /** Receives bars now; returns what ends their publication. */
  const publish = (name: string): (() => Promise<void>) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    void delay.pass(promise, clock.monotonicMs()).then(() => started.push(name))
    return async () => {
      resolve()
      await turns(1)
    }
  }
  const turns = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await new Promise<void>((resolve) => clock.soon(resolve))
  }
  return { clock, delay, work, started, publish, turns }
}

test('writes start together, in order, a turn after the last publication', async () => {
  const { started, publish, turns } = fixture()
  const first = publish('first')
  const second = publish('second')
  await second()
  await turns(10)
  expect(started).toEqual([])
  await first()
  const third = publish('third')
  await turns(10)
  expect(started).toEqual([])
  await third()
  await turns(1)
  expect(started).toEqual(['first', 'second', 'third'])
})

test('writes wait until the followers of the bus have done their work', async () => {
  const { work, started, publish, turns } = fixture()
  const frames = Promise.withResolvers<void>()
  work.promise = frames.promise
  await publish('bars')()
  await turns(10)
  expect(started).toEqual([])
  frames.resolve()
  await turns(2)
  expect(started).toEqual(['bars'])
})

test('all waiting writes start when the oldest reaches the maximum delay', async () => {
  const { clock, started, publish } = fixture()
  publish('old')
  await clock.advance(writeDelayMaxMs - 1)
  publish('young')
  expect(started).toEqual([])
  await clock.advance(1)
  expect(started).toEqual(['old', 'young'])
})

test('the maximum of a later write counts from its own receipt', async () => {
  const { clock, started, publish, turns } = fixture()
  await publish('first')()
  await turns(4)
  await clock.advance(writeDelayMaxMs - 1)
  publish('second')
  await clock.advance(writeDelayMaxMs - 1)
  expect(started).toEqual(['first'])
  await clock.advance(1)
  expect(started).toEqual(['first', 'second'])
})

test('the end of delays starts waiting writes, and later writes are not delayed', async () => {
  const { clock, delay, started, publish } = fixture()
  publish('waiting')
  delay.end()
  publish('later')
  await clock.advance(0)
  expect(started).toEqual(['waiting', 'later'])
})
