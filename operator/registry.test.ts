import { Server, ServerCredentials } from '@grpc/grpc-js'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../services/platform/system-clock.ts'
import { Registry as Service } from '../services/wire/load.ts'
import { Registry } from './registry.ts'

/** A registry that answers only these calls, and others with UNIMPLEMENTED. */
async function serve(handlers: object): Promise<string> {
  const server = new Server()
  server.addService(Service.service, handlers as never)
  const port = await new Promise<number>((resolve, reject) => {
    const ready = (error: Error | null, bound: number): void => (error ? reject(error) : resolve(bound))
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), ready)
  })
  onTestFinished(() => server.forceShutdown())
  return `127.0.0.1:${port}`
}

type Call = (call: { request: { id: string } }, done: (error: null, answer: object) => void) => void

test('beforeWrite runs again before a call tries the next address', async () => {
  const suspended: string[] = []
  const SuspendKey: Call = ({ request }, done) => {
    suspended.push(request.id)
    done(null, {})
  }
  const address = await serve({ SuspendKey })
  let asked = 0
  const registry = new Registry({
    // Port 1 has no listener.
    addresses: ['127.0.0.1:1', address],
    identity: () => ({}),
    clock: systemClock,
    beforeWrite: () => {
      if (++asked > 1) throw new Error('this replica is not the leader')
    },
  })
  onTestFinished(() => registry.close())
  await expect(registry.suspendKey('a', 'u')).rejects.toThrow('not the leader')
  expect(suspended).toEqual([])
})

test('an unreadable list of feeds does not affect keys, and vice versa', async () => {
  const answer =
    (page: object): Call =>
    (_, done) =>
      done(null, page)
  const lists = { ListFeeds: answer({ feeds: [{ key: 'A:B' }] }), ListKeys: answer({ keys: [{ id: 'a' }] }) }
  for (const [name, handler] of Object.entries(lists)) {
    const address = await serve({ [name]: handler })
    const registry = new Registry({
      addresses: [address],
      identity: () => ({}),
      clock: systemClock,
      beforeWrite: () => undefined,
    })
    onTestFinished(() => registry.close())
    await Promise.allSettled([registry.feeds.refresh(), registry.keys.refresh()])
    const [read, unread] =
      name === 'ListFeeds' ? [registry.feeds, registry.keys] : [registry.keys, registry.feeds]
    expect([[...read.values()].length, read.failure, unread.isLoaded]).toEqual([1, undefined, false])
    expect(unread.failure?.message).toContain('of the registry cannot be read')
  }
})
