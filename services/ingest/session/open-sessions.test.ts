import { Metadata } from '@grpc/grpc-js'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RawSession } from '../../../test/support/clients/raw-session.ts'
import {
  defineFeed,
  type IngestFixture,
  openIngestFixture,
  testToken,
} from '../../../test/support/fixtures/ingest-fixture.ts'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { channelCredentials } from '../../wire/client.ts'
import { Registry } from '../../wire/load.ts'
import { sessionsPerFeedMax } from './open-sessions.ts'

const ours = defineFeed({})
const theirs = defineFeed({ account: 'VIP' })
const patience = { timeout: 20_000 }

let fixture: IngestFixture
let opened: RawSession[]
beforeEach(async () => {
  opened = []
  fixture = await openIngestFixture([ours, theirs], { clock: createVirtualClock() })
})
afterEach(async () => {
  await Promise.all(opened.map((session) => session.close()))
  await fixture.remove()
})

function tokenOf(feed: string): Promise<string> {
  const client = new Registry(fixture.address, channelCredentials({}))
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${testToken}`)
  return new Promise<string>((resolve, reject) =>
    client.issueFeedToken({ feeds: [feed], expires: '90d' }, metadata, (error, answer) =>
      answer ? resolve(answer.token) : reject(error ?? new Error('no token')),
    ),
  ).finally(() => client.close())
}

function open(token: string): RawSession {
  const session = new RawSession(fixture.address, token)
  opened.push(session)
  return session
}

test('sessions of one feed are limited, and its reconnecting collector is accepted at the limit', async () => {
  const first = open(testToken)
  await first.hello(ours.key, { id: 'first' })
  const others = Array.from({ length: sessionsPerFeedMax - 1 }, () => open(testToken))
  await Promise.all(others.map((each) => each.hello(ours.key, { mode: 'IMPORT' })))
  const more = open(testToken)
  more.hello(ours.key, { mode: 'IMPORT' }).catch(() => undefined)
  expect(await more.ended).toEqual({
    code: 'RESOURCE_EXHAUSTED',
    details: `${ours.key} has ${sessionsPerFeedMax} sessions open, the maximum is ${sessionsPerFeedMax}`,
  })
  const back = open(testToken)
  await back.hello(ours.key, { id: 'first' })
  await open(testToken).hello(theirs.key)
}, 60_000)

test("sessions with one feed's credential are limited before their Hello", async () => {
  const token = await tokenOf(ours.key)
  const silent = Array.from({ length: sessionsPerFeedMax + 8 }, () => open(token))
  const refused: { code: string; details: string }[] = []
  for (const each of silent) void each.ended.then((end) => refused.push(end))
  await expect.poll(() => refused.length, patience).toBe(8)
  expect(refused[0]).toEqual({
    code: 'RESOURCE_EXHAUSTED',
    details: `credentials for ${ours.key} have ${sessionsPerFeedMax} sessions open, the maximum is ${sessionsPerFeedMax}`,
  })
  await open(await tokenOf(theirs.key)).hello(theirs.key)
}, 60_000)
