import { WrongServer } from '../../../core/failure.ts'
import type { ServerQueries } from '../exec.ts'
import type { QuestdbOptions } from '../options.ts'
import { serverFacts, versionMin } from './facts.ts'

export const syncCure = 'set QDB_CAIRO_COMMIT_MODE=sync (cairo.commit.mode=sync) and restart QuestDB'

/** Rejects a server that is too old, and warns of one that may lose acknowledged bars. */
export function serverJudge({ log, metrics }: QuestdbOptions, admin: ServerQueries): () => Promise<void> {
  let isSynced: boolean | undefined
  metrics.gauge('fxd_questdb_commit_synced', '1 if a commit survives a loss of power.', [], (gauge) => {
    // A gauge begins at 0, which means unsafe.
    if (isSynced === undefined) gauge.remove()
    else gauge.set(Number(isSynced))
  })
  return async () => {
    const facts = await serverFacts(admin)
    const { version, commitMode } = facts
    if (facts.isTooOld)
      throw new WrongServer(`QuestDB ${version} is too old: install ${versionMin} or a newer one.`)
    isSynced = facts.isSynced
    if (isSynced) log.info({ version, commitMode }, 'QuestDB ready')
    else
      log.warn(
        { version, commitMode, cure: syncCure },
        'QuestDB does not sync commits to disk: a loss of power may lose acknowledged bars',
      )
  }
}
