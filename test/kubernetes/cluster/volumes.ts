import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

const volumes = 12

/**
 * PersistentVolumes that claims without a class take. Each is a folder of the machine, which every node reaches: a volume
 * follows its pod to another node.
 */
export const persistentVolumes = (folder: string): readonly object[] =>
  Array.from({ length: volumes }, (_, i) => {
    const path = join(folder, 'volumes', String(i))
    mkdirSync(path, { recursive: true })
    // Kubernetes gives a folder of the machine to no group.
    chmodSync(path, 0o777)
    return {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: `volume-${i}` },
      spec: {
        capacity: { storage: '10Gi' },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Retain',
        hostPath: { path },
      },
    }
  })
