import { show } from '../core/show.ts'
import type { Finding } from '../doctor/finding.ts'
import type { Config } from '../platform/config.ts'
import { silentLog } from '../platform/log/log.ts'
import { Fatal } from '../platform/process/exit.ts'
import type { Clock } from '../ports/clock.ts'
import { examineEmbedded } from '../stores/embedded/examine.ts'
import { storeUsers } from '../stores/questdb/pg/connection-counts.ts'
import { examineQuestdb, type PodCounts } from '../stores/questdb/server/examine.ts'
import { readIdentity } from '../stores/redis/identity.ts'
import { questdbAt, readIdentityFile, redisAt } from './stores.ts'

export type { Finding }

export interface Wanted {
  /** Whether all bars are read too. */
  readonly audits: boolean
  /** Processes that use QuestDB, such as `rest=2,stream=3,ingest=2`, including those that a rollout adds. */
  readonly pods: string | undefined
}

/** Checks the stores of this configuration; changes nothing. */
export async function examine(config: Config, clock: Clock, wanted: Wanted): Promise<readonly Finding[]> {
  const pods = wanted.pods === undefined ? {} : parsePods(wanted.pods)
  const { audits } = wanted
  if (config.store === 'embedded') return examineEmbedded(config.dataDir, clock.utcMs(), audits)
  const at = redisAt(config)
  const known = async (): Promise<string | undefined> =>
    (at && (await readIdentity({ ...at, clock, log: silentLog }))) ?? readIdentityFile(config)
  const identity = { readKnown: known, asksRedis: at !== undefined }
  return examineQuestdb({ ...questdbAt(config), clock, log: silentLog, audits, pods, ...identity })
}

function parsePods(text: string): PodCounts {
  return Object.fromEntries(
    text.split(',').map((part) => {
      const [, user = '', count = ''] = /^([a-z]+)=(\d{1,4})$/.exec(part) ?? []
      if (storeUsers.some((known) => known === user)) return [user, Number(count)]
      throw new Fatal('usage', `--pods: got ${show(text)}, wanted such as rest=2,stream=3,ingest=2`)
    }),
  )
}
