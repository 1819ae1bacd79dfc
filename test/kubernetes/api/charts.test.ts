import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import type { FeedObject } from '../../../operator/kube/resources.ts'
import { podsOf } from '../../charts/pods.ts'
import { chart, examples, find, part, type Rendered, render } from '../../charts/render.ts'
import { temporaryFolder } from '../../support/fixtures/temporary-folder.ts'
import { certificateKind, kubernetesPrograms, monitoringKinds } from '../cluster/programs.ts'
import { writeKubeconfig } from './support/api-server.ts'

const server = inject('apiServer')

/** Makes a namespace with Pod Security `restricted`, which is deleted after the test. */
function namespace(name: string): (args: readonly string[], input?: string) => string {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-kubectl-'))
  const kubeconfig = join(folder, 'kubeconfig')
  writeKubeconfig(kubeconfig, { url: server.url, ca: server.ca, token: server.adminToken, namespace: name })
  const kubectl = (args: readonly string[], input = ''): string => {
    const { status, stdout, stderr } = spawnSync(
      kubernetesPrograms().kubectl,
      ['--kubeconfig', kubeconfig, ...args],
      {
        input,
        encoding: 'utf8',
        maxBuffer: 64 * 1024 * 1024,
      },
    )
    if (status !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`)
    return `${stdout}${stderr}`
  }
  onTestFinished(() => {
    kubectl(['delete', 'namespace', name, '--wait=false'])
    rmSync(folder, { recursive: true })
  })
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
  kubectl(['create', '-f', '-'], JSON.stringify(object))
  return kubectl
}

/** Kinds of other projects, whose schemas this API server lacks. */
const foreign = /^(monitoring\.coreos\.com|cert-manager\.io|gateway\.networking\.k8s\.io)\//

describe.for(examples.map((file, i) => [basename(file), file, `example-${i}`] as const))(
  '%s',
  ([, file, name]) => {
    test('the API server accepts every object', () => {
      const kubectl = namespace(name)
      const objects = render({ file, namespace: name }).filter(({ apiVersion }) => !foreign.test(apiVersion))
      const said = kubectl(
        ['apply', '--server-side', '--dry-run=server', '-f', '-'],
        objects.map((object) => stringify(object)).join('---\n'),
      )
      expect(said.match(/ serverside-applied \(server dry run\)$/gm)).toHaveLength(objects.length)
      expect(said).not.toContain('Warning')
    })

    test('the API server accepts every pod under Pod Security restricted', () => {
      const kubectl = namespace(`${name}-pods`)
      const pods = [...podsOf(render({ file, namespace: `${name}-pods` }))].map(
        ([component, { metadata, spec }]) => ({
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { ...metadata, name: component },
          // Left out, because the API server would require the class and the account to exist.
          spec: { ...withVolumes(spec), priorityClassName: undefined, serviceAccountName: undefined },
        }),
      )
      const said = kubectl(
        ['apply', '--server-side', '--dry-run=server', '-f', '-'],
        pods.map((pod) => stringify(pod)).join('---\n'),
      )
      expect(said.match(/ serverside-applied \(server dry run\)$/gm)).toHaveLength(pods.length)
    })
  },
)

test("the own kinds of the Prometheus operator and cert-manager accept the chart's objects", () => {
  const kubectl = namespace('foreign-kinds')
  const certificate = join(temporaryFolder(), 'certificate.json')
  writeFileSync(certificate, JSON.stringify(certificateKind()))
  const kinds = [...monitoringKinds(), certificate].flatMap((file) => ['-f', file])
  kubectl(['apply', '--server-side', ...kinds])
  kubectl(['wait', '--for=condition=Established', '--timeout=60s', ...kinds])
  const [production] = examples
  const objects = render({ file: production ?? '', namespace: 'foreign-kinds' }).filter(({ apiVersion }) =>
    foreign.test(apiVersion),
  )
  const names = objects.map(({ kind }) => kind).toSorted()
  expect(names).toEqual(['Certificate', 'Certificate', 'PodMonitor', 'PrometheusRule'])
  const said = kubectl(
    ['apply', '--server-side', '--validate=strict', '--dry-run=server', '-f', '-'],
    objects.map((object) => stringify(object)).join('---\n'),
  )
  expect(said.match(/ serverside-applied \(server dry run\)$/gm)).toHaveLength(objects.length)
})

test('the same namespace rejects a pod that may become root', () => {
  const kubectl = namespace('unsafe-pod')
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'unsafe' },
    spec: { containers: [{ name: 'a', image: 'a' }] },
  }
  expect(() => kubectl(['apply', '--dry-run=server', '-f', '-'], stringify(pod))).toThrow(
    'violates PodSecurity "restricted',
  )
})

/** Adds the volumes that a StatefulSet claims for its pods. */
function withVolumes(spec: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const volumes = (spec['volumes'] ?? []) as readonly { readonly name: string }[]
  const mounts = (spec['containers'] as readonly { volumeMounts?: readonly { name: string }[] }[]).flatMap(
    ({ volumeMounts = [] }) => volumeMounts.map((mount) => mount.name),
  )
  const claimed = mounts.filter((name) => !volumes.some((volume) => volume.name === name))
  return { ...spec, volumes: [...volumes, ...claimed.map((name) => ({ name, emptyDir: {} }))] }
}

/** Runs the script of a hook's Job as its pod does. Returns its output. */
function runJob(job: Rendered, namespaceName: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-account-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'account'))
  writeFileSync(join(folder, 'account/namespace'), namespaceName)
  writeFileSync(join(folder, 'account/token'), server.adminToken)
  interface Container {
    readonly command: readonly string[]
    readonly args: readonly [string]
    readonly env: readonly { readonly name: string; readonly value: string }[]
  }
  const [container] = part<readonly [Container]>(job, 'spec.template.spec.containers')
  const script = container.args[0].replace(
    '/var/run/secrets/kubernetes.io/serviceaccount',
    join(folder, 'account'),
  )
  const { hostname, port } = new URL(server.url)
  return execFileSync(process.execPath, [...container.command.slice(1), script], {
    encoding: 'utf8',
    env: {
      ...Object.fromEntries(container.env.map(({ name, value }) => [name, value])),
      NODE_EXTRA_CA_CERTS: server.ca,
      KUBERNETES_SERVICE_HOST: hostname,
      KUBERNETES_SERVICE_PORT: port,
    },
  })
}

test('missing secrets are made once and removed with the release; other secrets stay', () => {
  const name = 'made-once'
  const kubectl = namespace(name)
  const objects = render({ namespace: name })
  const secrets = (): Record<string, string> =>
    Object.fromEntries(
      (
        JSON.parse(kubectl(['get', 'secrets', '-o', 'json'])) as {
          items: { metadata: { name: string }; data: Record<string, string> }[]
        }
      ).items.map(({ metadata, data }) => [metadata.name, Object.values(data).join()]),
    )
  kubectl(['create', 'secret', 'generic', 'fxd-shard-token', '--from-literal=token=mine'])
  // As the operator makes it.
  kubectl(['create', 'configmap', 'fxd-store-identity', '--from-literal=identity=word'])
  const labels = ['app.kubernetes.io/managed-by=fxd-operator', 'marketdata.fxd.dev/store=identity']
  kubectl(['label', 'configmap', 'fxd-store-identity', ...labels])

  expect(runJob(find(objects, 'Job', 'fxd-secrets-make'), name)).toContain('fxd-shard-token is there already')
  const made = secrets()
  expect(Object.keys(made)).toHaveLength(9)
  expect(made['fxd-shard-token']).toBe(btoa('mine'))
  expect(atob(made['fxd-signing-keys'] ?? '')).toMatch(/^[0-9a-f]{64}$/)
  expect(new Set(Object.values(made)).size).toBe(9)

  expect(runJob(find(objects, 'Job', 'fxd-secrets-make'), name)).not.toContain('was made')
  expect(secrets()).toEqual(made)

  // Argo CD would prune them.
  expect(kubectl(['get', 'secrets', '-l', 'app.kubernetes.io/instance', '-o', 'name'])).not.toContain('fxd-')
  const remove = (): string => runJob(find(objects, 'Job', 'fxd-secrets-remove'), name)
  kubectl(['create', 'deployment', 'fxd-ingest', '--image=fxd', '--replicas=0'])
  expect(remove()).toContain('nothing was removed: the release is installed')
  expect(secrets()).toEqual(made)
  // The Deployment is being deleted, as after `helm uninstall --cascade foreground`.
  const held = JSON.stringify({ metadata: { finalizers: ['example.org/held'] } })
  kubectl(['patch', 'deployment', 'fxd-ingest', '--type=merge', '-p', held])
  kubectl(['delete', 'deployment', 'fxd-ingest', '--wait=false'])

  const removed = remove()
  expect(removed).toContain('fxd-admin-token was removed')
  expect(removed).toContain('fxd-store-identity was removed')
  expect(secrets()).toEqual({ 'fxd-shard-token': btoa('mine') })
})

test('after an uninstall no object claims to be ready, and there is no Lease', () => {
  const name = 'uninstalled'
  const kubectl = namespace(name)
  kubectl(['apply', '-f', '-'], readFileSync(join(chart, 'files/first-feed.yaml'), 'utf8'))
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  const conditions = ['Ready', 'StoreAvailable'].map((type) => ({
    type,
    status: 'True',
    reason: 'Fine',
    message: '',
    lastTransitionTime,
  }))
  const names = kubectl(['get', 'fxd', '-o', 'name']).trim().split('\n')
  for (const [each, state] of [
    ['feed/demo', 'live'],
    ['apikey/first', 'active'],
  ] as const) {
    const status = { observedGeneration: 1, state, conditions }
    kubectl(['patch', each, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status })])
  }
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'fxd-operator' } }
  kubectl(['create', '-f', '-'], JSON.stringify(lease))

  runJob(find(render({ namespace: name }), 'Job', 'fxd-secrets-remove'), name)
  expect(names).toHaveLength(2)
  const read = JSON.parse(kubectl(['get', 'fxd', '-o', 'json'])) as { readonly items: readonly FeedObject[] }
  expect(read.items.map(({ status }) => status)).toEqual(
    names.map(() => ({
      observedGeneration: 1,
      conditions: [expect.objectContaining({ type: 'Ready', status: 'Unknown', reason: 'OperatorGone' })],
    })),
  )
  expect(kubectl(['get', 'lease', '-o', 'name'])).not.toContain('fxd-operator')
})

test('the first feed and key of the notes are valid objects', () => {
  const kubectl = namespace('first-feed')
  const said = kubectl(
    ['apply', '--dry-run=server', '-f', '-'],
    readFileSync(join(chart, 'files/first-feed.yaml'), 'utf8'),
  )
  expect(said).toContain('feed.marketdata.fxd.dev/demo created (server dry run)')
  expect(said).toContain('apikey.marketdata.fxd.dev/first created (server dry run)')
})
