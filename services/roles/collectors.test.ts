import { expect, test } from 'vitest'
import { aFeed } from '../../test/support/fixtures/rest-fixture.ts'
import { feedKey } from '../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../core/feeds/feed.ts'
import { silentLog } from '../platform/log/log.ts'
import { createCollectors } from './collectors.ts'

const feed = (account: string, description = ''): FeedDefinition => aFeed('BROKERA', account, { description })
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

function start() {
  const calls: string[] = []
  const endings: (() => void)[] = []
  let slowly = false
  const collectors = createCollectors((definition) => {
    if (definition.key === feedKey('BROKERA', 'PUSHED')) return undefined
    if (definition.account === 'BROKEN') throw new Error('no such path')
    calls.push(`start ${definition.account}${definition.description}`)
    return {
      async stop() {
        if (slowly) await new Promise<void>((resolve) => void endings.push(resolve))
        calls.push(`stop ${definition.account}${definition.description}`)
      },
    }
  }, silentLog)
  return { calls, endings, collectors, slowDown: () => void (slowly = true) }
}

test('new feeds start, changed ones restart, removed ones stop, the others continue', async () => {
  const { calls, collectors } = start()
  collectors.follow([feed('A'), feed('B'), feed('C'), feed('PUSHED')])
  await settled()
  expect(calls.splice(0)).toEqual(['start A', 'start B', 'start C'])
  collectors.follow([feed('A'), feed('B', '2'), feed('D'), feed('PUSHED')])
  await settled()
  expect(calls.splice(0).sort()).toEqual(['start B2', 'start D', 'stop B', 'stop C'])
  collectors.follow([feed('A'), feed('B', '2'), feed('D'), feed('PUSHED')])
  await settled()
  expect(calls).toEqual([])
})

test('the new collector of a changed feed starts after the old one has ended', async () => {
  const { calls, endings, collectors, slowDown } = start()
  collectors.follow([feed('A')])
  await settled()
  slowDown()
  collectors.follow([feed('A', '2')])
  await settled()
  expect(calls).toEqual(['start A'])
  endings[0]?.()
  await settled()
  expect(calls).toEqual(['start A', 'stop A', 'start A2'])
})

test('a collector that cannot start does not stop the others, and later changes are applied', async () => {
  const { calls, collectors } = start()
  collectors.follow([feed('BROKEN'), feed('A')])
  await settled()
  collectors.follow([feed('BROKEN'), feed('A'), feed('B')])
  await settled()
  expect(calls).toEqual(['start A', 'start B'])
  await collectors.stop()
})

test('stop ends all of them, and nothing starts afterwards', async () => {
  const { calls, collectors } = start()
  collectors.follow([feed('A'), feed('B')])
  await settled()
  const stopped = collectors.stop()
  collectors.follow([feed('C')])
  await stopped
  await settled()
  expect(calls).toEqual(['start A', 'start B', 'stop A', 'stop B'])
})
