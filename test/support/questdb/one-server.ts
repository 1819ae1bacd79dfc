import { afterAll, beforeAll } from 'vitest'
import { type QuestdbServer, startQuestdb } from './server.ts'

const startTimeoutMs = 180_000

/** Starts one server for all tests of a file; each test uses separate tables. */
export function oneServer(): () => QuestdbServer {
  let server: QuestdbServer | undefined
  beforeAll(async () => {
    server = await startQuestdb({ startsQuickly: true })
  }, startTimeoutMs)
  afterAll(() => server?.stop())
  return () => {
    if (server === undefined) throw new Error('QuestDB runs inside tests only.')
    return server
  }
}
