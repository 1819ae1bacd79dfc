import { expect, test } from 'vitest'
import { createVirtualClock } from '../test/support/fixtures/virtual-clock.ts'
import { Listing, outdatedMs } from './listing.ts'

const row = (version: number, text = 'read') => ({ version, text })

/** A list whose reads resolve when the test calls `end`, with these rows. */
function start() {
  const reads: ((rows: object) => void)[] = []
  const read = () =>
    new Promise<Map<string, ReturnType<typeof row>>>((resolve) => {
      reads.push((rows) => resolve(new Map(Object.entries(rows))))
    })
  const list = new Listing('keys', createVirtualClock(), read)
  return { list, end: (rows: object) => reads.shift()?.(rows) }
}

test('a row that is stored during a read stays, unless the read has a newer one', async () => {
  const { list, end } = start()
  const read = list.refresh()
  list.set('changed', row(3, 'stored'))
  list.set('made', row(4, 'stored'))
  list.set('suspended', row(1, 'stored'))
  list.set('newer', row(2, 'stored'))
  end({ changed: row(1), suspended: row(1), newer: row(5) })
  await read
  const texts = ['changed', 'made', 'suspended', 'newer'].map((id) => list.get(id)?.text)
  expect(texts).toEqual(['stored', 'stored', 'stored', 'read'])
})

test('rows that the registry lost, as after a restore, disappear with the next read', async () => {
  const { list, end } = start()
  list.set('lost', row(9, 'stored'))
  list.set('older', row(9, 'stored'))
  const read = list.refresh()
  end({ older: row(2) })
  await read
  expect([list.get('lost'), list.get('older')]).toEqual([undefined, row(2)])
})

test('a failed read reports its reason and keeps the earlier rows', async () => {
  let isUnavailable = false
  const read = async () => {
    if (isUnavailable) throw new Error('connection refused')
    return new Map([['a', row(1)]])
  }
  const list = new Listing('keys', createVirtualClock(), read)
  await list.refresh()
  isUnavailable = true
  await expect(list.refresh()).rejects.toThrow('connection refused')
  expect(list.failure?.message).toBe('The keys of the registry cannot be read: connection refused')
  expect([...list.values()]).toEqual([row(1)])
  isUnavailable = false
  await list.refresh()
  expect(list.failure).toBeUndefined()
})

test('the rows are outdated once reads have failed for a minute, until a read succeeds', async () => {
  const clock = createVirtualClock()
  let isUnavailable = true
  const read = async () => {
    if (isUnavailable) throw new Error('connection refused')
    return new Map([['a', row(1)]])
  }
  const list = new Listing('feeds', clock, read)
  const seen: boolean[] = []
  for (let n = 0; n < 4; n++) {
    await list.refresh().catch(() => undefined)
    seen.push(list.isOutdated)
    await clock.advance(outdatedMs / 3)
  }
  isUnavailable = false
  await list.refresh()
  expect([...seen, list.isOutdated]).toEqual([false, false, false, true, false])
})
