/**
 * The control plane that all test files of a run share. The main process of the run starts it at the first request and
 * stops it at the end; each test file creates its own namespaces in it.
 */
import { afterAll, beforeAll, inject } from 'vitest';
import { type ControlPlane, createNamespace, startControlPlane } from './control-plane.ts';
import { kubeOk, kubeRelease, kubeRequest, type PlaneAddress } from './kube-request.ts';
import { askFor, type Offered, offer } from './shared-service.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A URL that returns the address of the run's control plane. The first request starts it. */
    controlPlaneUrl: string;
  }
}

/** Runs in the main process of the test run. */
export function offerControlPlane(): Promise<Offered> {
  let plane: Promise<ControlPlane> | undefined;
  const address = async () => {
    plane ??= startControlPlane();
    const { url, ca, etcd_url, tokens } = await plane;
    return JSON.stringify({ url, ca, etcd_url, tokens });
  };
  return offer(address, async () => {
    await plane?.then(
      ({ stop }) => stop(),
      () => undefined,
    );
  });
}

export type UsedControlPlane = { plane: () => PlaneAddress; namespace(): Promise<string> };

/**
 * A separate control plane, for test files that install something that other files must not see.
 */
export function useOwnControlPlane(): UsedControlPlane {
  let own: ControlPlane | undefined;
  const plane = () => {
    if (own === undefined) throw new Error('the control plane is there from beforeAll on');
    return own;
  };
  beforeAll(async () => {
    own = await startControlPlane();
  }, 300_000);
  afterAll(() => own?.stop());
  return { plane, namespace: () => createNamespace(plane()) };
}

/** The run's control plane. After the last test of the file, nothing runs in its namespaces. */
export function useControlPlane(): UsedControlPlane {
  let address: PlaneAddress | undefined;
  const namespaces: string[] = [];
  const plane = () => {
    if (address === undefined) throw new Error('the control plane is there from beforeAll on');
    return address;
  };
  beforeAll(async () => {
    address = JSON.parse(await askFor(inject('controlPlaneUrl'))) as PlaneAddress;
  }, 300_000);
  afterAll(async () => {
    for (const name of namespaces) await removeNamespace(plane(), name);
  });
  return {
    plane,
    namespace: async () => {
      const name = await createNamespace(plane());
      namespaces.push(name);
      return name;
    },
  };
}

const GROUP = '/apis/tintype.dev/v1alpha1';

/** Whatever keeps the controllers of the control plane busy for as long as it exists. */
const WORKLOADS = ['api/v1/NS/pods', 'apis/apps/v1/NS/deployments', 'apis/batch/v1/NS/cronjobs'];

/**
 * Deletes a namespace if something in it runs, or if it is being deleted. Otherwise it may stay:
 * the control plane would look for objects of every kind in it, which costs a hundred requests.
 *
 * Removes finalizers first. The control plane checks a namespace that waits for one every few
 * seconds; a hundred of them would occupy a whole core until the run ends.
 */
async function removeNamespace(plane: PlaneAddress, name: string): Promise<void> {
  const place = `/api/v1/namespaces/${name}`;
  const { status, body } = await kubeRequest(plane, { path: place });
  if (status === 404) return;
  const { deletionTimestamp } = body.metadata as { deletionTimestamp?: string };
  if (deletionTimestamp === undefined && !(await isBusy(plane, name))) return;
  const { resources } = (await kubeOk(plane, { path: GROUP })) as { resources: Named[] };
  for (const plural of resources.map((each) => each.name).filter((each) => !each.includes('/'))) {
    const path = `${GROUP}/namespaces/${name}/${plural}`;
    for (const { metadata } of await list(plane, path)) {
      await kubeRelease(plane, `${path}/${metadata.name}`);
    }
  }
  await kubeRequest(plane, { method: 'DELETE', path: place });
}

async function isBusy(plane: PlaneAddress, name: string): Promise<boolean> {
  for (const each of WORKLOADS) {
    const path = `/${each.replace('NS', `namespaces/${name}`)}`;
    if ((await list(plane, path)).length > 0) return true;
  }
  return false;
}

async function list(plane: PlaneAddress, path: string): Promise<{ metadata: Named }[]> {
  return ((await kubeOk(plane, { path })) as { items: { metadata: Named }[] }).items;
}

type Named = { name: string };
