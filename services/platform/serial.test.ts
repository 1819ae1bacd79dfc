import { expect, test } from 'vitest'
import { Serial, SharedRun } from './serial.ts'

/** Tasks that the test ends. */
function manualTasks() {
  const events: string[] = []
  const ends: PromiseWithResolvers<string>[] = []
  const task = (name: string) => async (): Promise<string> => {
    events.push(`${name} begins`)
    const end = Promise.withResolvers<string>()
    ends.push(end)
    try {
      return await end.promise
    } finally {
      events.push(`${name} ends`)
    }
  }
  return { events, ends, task }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('tasks run one after another in the order of the calls', async () => {
  const { events, ends, task } = manualTasks()
  const serial = new Serial()
  const results = Promise.all([serial.run(task('a')), serial.run(task('b'))])
  await turn()
  expect(events).toEqual(['a begins'])
  ends[0]?.resolve('A')
  await turn()
  expect(events).toEqual(['a begins', 'a ends', 'b begins'])
  ends[1]?.resolve('B')
  expect(await results).toEqual(['A', 'B'])
})

test('a failed task rejects its own call only, whether it throws at once or later', async () => {
  const serial = new Serial()
  const thrown = serial.run(() => {
    throw new Error('at once')
  })
  const rejected = serial.run(() => Promise.reject(new Error('later')))
  const third = serial.run(() => 3)
  await expect(thrown).rejects.toThrow('at once')
  await expect(rejected).rejects.toThrow('later')
  expect(await third).toBe(3)
})

test('calls during a shared run wait for one more run, also after a failure', async () => {
  const { events, ends, task } = manualTasks()
  const shared = new SharedRun(async () => void (await task('run')()))
  const first = shared.run()
  expect(shared.run()).toBe(first)
  await turn()
  const second = shared.run()
  expect(second).not.toBe(first)
  expect(shared.run()).toBe(second)
  ends[0]?.reject(new Error('failed'))
  await expect(first).rejects.toThrow('failed')
  await turn()
  expect(events).toEqual(['run begins', 'run ends', 'run begins'])
  ends[1]?.resolve('')
  await second
  expect(events).toHaveLength(4)
})
