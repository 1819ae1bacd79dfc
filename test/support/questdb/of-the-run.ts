import { startQuestdb } from './server.ts'

/**
 * With FXD_ACCEPTANCE_STORE=questdb a QuestDB for all services that the run starts, which learn of it
 * from the environment; gives what stops it.
 */
export async function questdbOfTheRun(): Promise<() => Promise<void>> {
  const store = process.env['FXD_ACCEPTANCE_STORE'] ?? 'embedded'
  if (store === 'embedded') return async () => undefined
  if (store !== 'questdb')
    throw new Error(`FXD_ACCEPTANCE_STORE is "${store}"; it must be embedded or questdb.`)
  const { http, pg, stop } = await startQuestdb({ memory: '384m' })
  process.env['FXD_ACCEPTANCE_QUESTDB_HTTP'] = `${http.host}:${http.port}`
  process.env['FXD_ACCEPTANCE_QUESTDB_PG'] = `${pg.host}:${pg.port}`
  return stop
}
