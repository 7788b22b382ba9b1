import { describe, expect, it } from 'vitest';
import { CHART, run } from './rendered.ts';

function notes(...args: string[]): string {
  const install = ['install', 'tintype', CHART, '--namespace', 'tintype-system'];
  return run('helm', [...install, '--dry-run=client', ...args]).split('NOTES:')[1] ?? '';
}

describe('the NOTES of the chart', () => {
  it('tell how to wait for the operator and create the missing Secret', () => {
    const text = notes();
    expect(text).toContain(
      'kubectl --namespace tintype-system wait deployment/tintype-operator --for=condition=Available',
    );
    expect(text).toContain('create secret generic tintype');
  });

  it('run the migration before the first project, which reports SchemaNotReady until then', () => {
    const text = notes();
    const migrating =
      'kubectl --namespace tintype-system exec deployment/tintype-operator -- tintype migrate';
    const before = text.split('Create a first project')[0];
    expect(before).toContain('until then, projects report SchemaNotReady');
    expect(before).toContain(migrating);
  });

  it('create the first project in a namespace that is watched', () => {
    const place = (namespace: string) => [
      `metadata: { name: demo, namespace: ${namespace} }`,
      `kubectl --namespace ${namespace} wait project/demo`,
    ];
    const anywhere = notes();
    for (const words of place('default')) expect(anywhere).toContain(words);
    const watched = notes('--set', 'watchNamespaces={team-a,team-b}');
    for (const words of place('team-a')) expect(watched).toContain(words);
    expect(watched).not.toContain('default');
  });

  it('list the watched namespaces, including that of the release', () => {
    expect(notes()).not.toContain('Only these namespaces');
    expect(notes('--set', 'watchNamespaces={team-a,tintype-system}')).toContain(
      'Only these namespaces are watched: team-a, tintype-system.',
    );
  });
});
