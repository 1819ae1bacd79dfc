import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cachedFolder } from '../processes/cached-folder.ts'
import { javaMajor, type QuestdbParts } from './parts.ts'

/** Duration of the run that makes the archive: longer than a start on an idle machine. */
const runSeconds = 10
/** Runs Java for that many seconds, or until Ctrl-C. Java writes the archive when SIGTERM ends it. */
const runForAWhile = '"$@" & java=$!; trap : INT TERM; sleep "$0"; kill $java; wait $java; exit 0'
/** Java 25 and newer archive linked classes and their profiles, older ones parsed classes only. */
const cacheMajorMin = 25

/** The arguments with which Java runs QuestDB. */
export const questdbModule = (jar: string): string[] => ['-p', jar, '-m', 'io.questdb/io.questdb.ServerMain']

/**
 * The flag with which Java reads the classes of QuestDB from an archive: a start takes half the time and processor
 * time. The archive is made once for each Java and jar. Java ignores an archive that it cannot use.
 */
export function classArchiveFlag({ java, javaVersion, jar }: QuestdbParts): string {
  const isCache = javaMajor(javaVersion) >= cacheMajorMin
  const digest = createHash('sha256').update([java, javaVersion, jar].join('\n')).digest('hex')
  const folder = cachedFolder(`questdb-classes-${digest.slice(0, 16)}`, (into) => {
    const archive = join(into, 'classes')
    const make = isCache ? `-XX:AOTCacheOutput=${archive}` : `-XX:ArchiveClassesAtExit=${archive}`
    const data = join(into, 'data')
    const place = '127.0.0.1:0'
    const options = ['-XX:+UseParallelGC', ...questdbModule(jar), '-d', data]
    mkdirSync(data)
    // The shell ends Java also if the tests end meanwhile.
    execFileSync('sh', ['-c', runForAWhile, String(runSeconds), java, make, ...options], {
      env: {
        ...process.env,
        QDB_HTTP_BIND_TO: place,
        QDB_HTTP_MIN_NET_BIND_TO: place,
        QDB_PG_NET_BIND_TO: place,
        QDB_LINE_TCP_ENABLED: 'false',
        QDB_TELEMETRY_ENABLED: 'false',
      },
      stdio: 'ignore',
    })
    if (!existsSync(archive))
      throw new Error(`QuestDB did not start within ${runSeconds} s, or Java wrote no archive`)
    rmSync(data, { recursive: true })
  })
  return (isCache ? '-XX:AOTCache=' : '-XX:SharedArchiveFile=') + join(folder, 'classes')
}
