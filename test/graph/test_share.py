from __future__ import annotations

import pytest

from propulsion_ros.graph import share
from propulsion_ros.settings.errors import SourceError


def test_source_tree_has_its_own_files():
    assert (share.share_directory() / 'config' / 'rocket.yaml').is_file()


def test_package_without_its_files_is_refused_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(share, '__file__', str(tmp_path / 'propulsion_ros' / 'graph' / 'share.py'))
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    with pytest.raises(SourceError) as error:
        share.share_directory()
    assert str(error.value) == (
        'share/propulsion_ros: found neither in the ament index nor in a folder above '
        f'{tmp_path}'
    )
