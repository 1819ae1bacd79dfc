import type { TestProject } from 'vitest/node'
import { startQuestdb } from '../questdb/server.ts'
import { oneService } from './all-process.ts'

/** Starts the service of the run with its bars in a QuestDB. Other services of the suite use the same QuestDB. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { http, pg, stop } = await startQuestdb()
  process.env['FXD_ACCEPTANCE_QUESTDB_HTTP'] = `${http.host}:${http.port}`
  process.env['FXD_ACCEPTANCE_QUESTDB_PG'] = `${pg.host}:${pg.port}`
  try {
    const end = await oneService(project, 'questdb')
    return async () => {
      try {
        await end()
      } finally {
        await stop()
      }
    }
  } catch (error) {
    await stop()
    throw error
  }
}
